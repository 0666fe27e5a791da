# SPDX-License-Identifier: MIT
# tests/command/ runs the built command and looks at its options.
foreach(source ${test_sources})
  if(source MATCHES "/tests/command/")
    get_filename_component(name ${source} NAME_WE)
    if(CMAKE_GENERATOR MATCHES Ninja)  # they compile without the command
      set_target_properties(${name} PROPERTIES LINK_DEPENDS $<TARGET_FILE:parafield_command>)
    else()
      add_dependencies(${name} parafield_command)
    endif()
  endif()
endforeach()
target_sources(options_test PRIVATE
  "$<FILTER:$<TARGET_OBJECTS:parafield_command>,INCLUDE,/(command_line|options|parameters)\\.cpp>")
target_include_directories(options_test PRIVATE ${PROJECT_SOURCE_DIR}/apps/parafield)
target_link_libraries(options_test PRIVATE CLI11::CLI11 fmt::fmt)
target_sources(bench_energy_test PRIVATE
  "$<FILTER:$<TARGET_OBJECTS:parafield_command>,INCLUDE,/bench/energy\\.cpp>")
target_include_directories(bench_energy_test PRIVATE ${PROJECT_SOURCE_DIR}/apps/parafield)
target_link_libraries(bench_energy_test PRIVATE fmt::fmt ${CMAKE_DL_LIBS})
if(cpp-httplib_FOUND AND TARGET serve_command_test)
  foreach(test serve_command_test serve_refusals_test)
    target_compile_definitions(${test} PRIVATE PARAFIELD_HAS_HTTPLIB)
  endforeach()
  find_program(PYTHON3 python3)
  if(PYTHON3)  # the page in a browser; where there is none, the test is skipped and says so
    add_test(NAME ServePage.InABrowser COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/serve_page_test.py
      $<TARGET_FILE:parafield_command>)
    set_tests_properties(ServePage.InABrowser PROPERTIES LABELS command SKIP_RETURN_CODE 77)
  endif()
endif()
