# SPDX-License-Identifier: MIT
# Makes the Debian packages of the build and reads their contents and dependencies. scripts/test-package
# installs them. They are compressed as fast as possible, which takes a tenth of the time.
set(folder ${BUILD}/packages)
file(REMOVE_RECURSE ${folder})
execute_process(COMMAND ${CPACK} --config ${BUILD}/CPackConfig.cmake -G DEB -B ${folder}
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
string(REGEX REPLACE "\\.[0-9]+$" "" soversion ${VERSION})

# One package: its name, patterns that its fields Depends and Recommends have, and patterns of its files.
function(check package depends files)
  file(GLOB deb ${folder}/${package}_${VERSION}_*.deb)
  if(NOT deb)
    message(FATAL_ERROR "there is no package ${package}")
  endif()
  execute_process(COMMAND dpkg-deb -f ${deb} Depends Recommends OUTPUT_VARIABLE field COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND dpkg-deb -c ${deb} OUTPUT_VARIABLE contents COMMAND_ERROR_IS_FATAL ANY)
  foreach(pattern ${depends})
    if(NOT field MATCHES "${pattern}")
      message(SEND_ERROR "${package} neither depends on nor recommends ${pattern}: ${field}")
    endif()
  endforeach()
  foreach(pattern ${files} /usr/share/doc/${package}/copyright)
    if(NOT contents MATCHES "${pattern}")
      message(SEND_ERROR "${package} has no ${pattern}:\n${contents}")
    endif()
  endforeach()
endfunction()
string(REPLACE "," ";" libraries "${LIBRARIES}")
check(libparafield${soversion} "libc6;libstdc;${libraries}" "/usr/lib/[^\n]*libparafield.so.${VERSION}")
check(libparafield-dev "libparafield${soversion} \\(= ${VERSION}\\)"
  "/usr/include/parafield/parafield.hpp;/usr/include/parafield/parafield.h\n;libparafield.so ->;parafieldConfig.cmake;-shared.cmake;parafield.pc")
set(needed "libparafield${soversion} \\(= ${VERSION}\\)")
if(FFMPEG)
  list(APPEND needed "Recommends: .*libavformat" "Recommends: .*libswscale" "Recommends: .*libavdevice")
endif()
check(libparafield-video${soversion} "${needed}" "/usr/lib/[^\n]*libparafield_video.so.${VERSION}")
check(libparafield-video-dev "libparafield-video${soversion} \\(= ${VERSION}\\);libparafield-dev \\(= ${VERSION}\\)"
  "libparafield_video.so ->;parafield-video-shared.cmake;parafield-video.pc")
if(COMMAND_BUILT)
  set(needed libc6 libfmt)
  if(HTTPLIB)
    list(APPEND needed libcpp-httplib)
  endif()
  if(SHARED)
    list(APPEND needed libparafield${soversion})
  endif()
  check(parafield "${needed}"
    "/usr/bin/parafield;man1/parafield-flow.1;completions/parafield;_parafield;parafield.fish")
endif()
if(FREI0R_BUILT)
  check(parafield-frei0r "libc6;libstdc" "/usr/lib/frei0r-1/parafield_flow.so;/usr/lib/frei0r-1/parafield_motion.so")
endif()
