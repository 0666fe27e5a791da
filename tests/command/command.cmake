# SPDX-License-Identifier: MIT
# tests/command/ runs the built command and looks at its options.
foreach(name command_test command_errors_test fields_command_test stereo_command_test bench_command_test detect_command_test
        tracks_command_test guided_command_test sift_command_test synth_command_test help_command_test)
  add_dependencies(${name} parafield_command)
endforeach()
if(OpenCV_FOUND)
  target_compile_definitions(sift_command_test PRIVATE PARAFIELD_HAS_OPENCV)
endif()
target_sources(options_test PRIVATE
  "$<FILTER:$<TARGET_OBJECTS:parafield_command>,INCLUDE,/(command_line|options|parameters)\\.cpp>")
target_include_directories(options_test PRIVATE ${PROJECT_SOURCE_DIR}/apps/parafield)
target_link_libraries(options_test PRIVATE CLI11::CLI11 fmt::fmt)
