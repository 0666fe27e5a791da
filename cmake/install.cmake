# SPDX-License-Identifier: MIT
# Components: `headers` for both kinds of library; `static`; `library` and `shared` (what runs, and what
# programs are linked with); `command`; `frei0r` (filters for video editors). BUILD_SHARED_LIBS chooses what an
# installation without --component holds. parafield::video has components of its own with `video_` before their
# names, but its header is in `headers`. Both kinds may lie in one prefix: then find_package takes the shared one unless COMPONENTS says
# static.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/parafield)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(BUILD_SHARED_LIBS)
  set(unless_shared "")
  set(unless_static EXCLUDE_FROM_ALL)
else()
  set(unless_shared EXCLUDE_FROM_ALL)
  set(unless_static "")
endif()

install(DIRECTORY include/parafield DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
configure_package_config_file(cmake/parafieldConfig.cmake.in ${PROJECT_BINARY_DIR}/parafieldConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parafieldConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parafieldConfig.cmake ${PROJECT_BINARY_DIR}/parafieldConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT headers)

# NAME.pc for one kind of library: `libs` and `requires` are linked into a program in addition to it.
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${pkgconfig_dir} /prefix)
function(install_pkgconfig name library kind libs requires)
  configure_file(cmake/parafield.pc.in ${PROJECT_BINARY_DIR}/${kind}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${kind}/${name}.pc DESTINATION ${pkgconfig_dir}
    COMPONENT ${kind} ${ARGN})
endfunction()

if(TARGET parafield_shared)
  install(TARGETS parafield_shared EXPORT parafield-shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT library NAMELINK_COMPONENT shared ${unless_shared})
  install(EXPORT parafield-shared NAMESPACE parafield:: DESTINATION ${package_dir}
    COMPONENT shared ${unless_shared})
  install_pkgconfig(parafield parafield shared "" "" ${unless_shared})
  install(TARGETS parafield_video_shared EXPORT parafield-video-shared
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT video_library NAMELINK_COMPONENT video_shared ${unless_shared})
  install(EXPORT parafield-video-shared NAMESPACE parafield:: DESTINATION ${package_dir}
    COMPONENT video_shared ${unless_shared})
  install_pkgconfig(parafield-video parafield_video video_shared "" " parafield = ${PROJECT_VERSION}" ${unless_shared})
endif()

if(TARGET parafield)
  install(TARGETS parafield EXPORT parafield-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT static ${unless_static})
  install(EXPORT parafield-static NAMESPACE parafield:: DESTINATION ${package_dir}
    COMPONENT static ${unless_static})
  set(libs "-lstdc++ -lm -pthread")  # programs in C do not link the C++ runtime by themselves
  set(requires "")
  if(PNG_FOUND)
    string(APPEND requires " libpng zlib")
  endif()
  if(JPEG_FOUND)
    string(APPEND requires " libjpeg")
  endif()
  if(TIFF_FOUND)
    string(APPEND requires " libtiff-4")
  endif()
  if(PARAFIELD_HAS_CUDA)
    # A program that links the static library needs CUDA's static runtime, of the version that compiled the
    # library, and has perhaps no toolkit. NVIDIA's license allows to redistribute this file. It lies in a
    # folder of its own, where no other program finds it.
    get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
    install(FILES ${cudart} DESTINATION ${CMAKE_INSTALL_LIBDIR}/parafield COMPONENT static ${unless_static})
    string(PREPEND libs "\${libdir}/parafield/libcudart_static.a -ldl -lrt ")
  endif()
  install_pkgconfig(parafield parafield static "${libs}" "${requires}" ${unless_static})
  install(TARGETS parafield_video EXPORT parafield-video-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT video_static ${unless_static})
  install(EXPORT parafield-video-static NAMESPACE parafield:: DESTINATION ${package_dir}
    COMPONENT video_static ${unless_static})
  install_pkgconfig(parafield-video parafield_video video_static "" " parafield = ${PROJECT_VERSION}"
    ${unless_static})
endif()

if(TARGET parafield_command)
  install(TARGETS parafield_command DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  if(TARGET parafield_pages)
    # Debian's zsh reads packages' completions from a folder of its own.
    set(zsh_functions site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
      set(zsh_functions vendor-completions)
    endif()
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT command
      PATTERN zsh EXCLUDE)
    install(FILES ${PROJECT_BINARY_DIR}/share/zsh/_parafield
      DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_functions} COMPONENT command)
  endif()
endif()

if(FREI0R_FOUND)
  # Programs look in lib/frei0r-1 of /usr and /usr/local, whatever the distribution's folder of libraries is.
  install(TARGETS parafield_frei0r_flow parafield_frei0r_motion LIBRARY DESTINATION lib/frei0r-1 COMPONENT frei0r)
endif()
