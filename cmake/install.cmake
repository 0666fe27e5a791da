include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/parafield)

install(TARGETS parafield EXPORT parafieldTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/parafield DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT parafieldTargets NAMESPACE parafield:: DESTINATION ${package_dir})
configure_package_config_file(cmake/parafieldConfig.cmake.in ${PROJECT_BINARY_DIR}/parafieldConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parafieldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parafieldConfig.cmake ${PROJECT_BINARY_DIR}/parafieldConfigVersion.cmake
  DESTINATION ${package_dir})
if(TARGET parafield_command)
  install(TARGETS parafield_command DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
