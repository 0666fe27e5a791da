# SPDX-License-Identifier: MIT
# tests/docs/ keeps README.md and docs/ true: commands run, programs compile and run, CMake's blocks
# configure, links lead somewhere, tables of parameters are the program's, tables of figures those of
# bench/results, and the site builds.
# python/tests/docs_test.py runs Python, and all blocks of the pages about it.
file(GLOB_RECURSE pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
list(PREPEND pages README.md)
set(python_pages docs/python.md docs/xarray.md docs/guides/clusters.md)
set(source_pages docs/adding-a-method.md)  # they change the source: adding_a_method.sh
function(add_docs_test name)
  add_test(NAME Docs.${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(Docs.${name} PROPERTIES LABELS docs)
endfunction()

# The C++ of the pages is one program.
set(program_pages ${pages})
list(REMOVE_ITEM program_pages ${source_pages})
set(programs ${CMAKE_CURRENT_BINARY_DIR}/docs_programs.cpp)
list(TRANSFORM program_pages PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE program_files)
add_custom_command(OUTPUT ${programs}
  COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/snippets.awk ${program_pages} > ${programs}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${program_files} ${CMAKE_CURRENT_LIST_DIR}/snippets.awk)
if(PARAFIELD_SANITIZE)
  target_sources(unsanitized PRIVATE ${programs})
  return()
endif()
add_custom_target(docs_programs_source DEPENDS ${programs})  # waits for no library
add_executable(docs_programs ${programs})
add_dependencies(docs_programs docs_programs_source)
target_include_directories(docs_programs PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(docs_programs PRIVATE parafield_video)
target_compile_options(docs_programs PRIVATE -O0)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/docs_programs_files)
file(MAKE_DIRECTORY ${folder})
add_docs_test(Programs docs_programs)
set_tests_properties(Docs.Programs PROPERTIES WORKING_DIRECTORY ${folder})

set(command_pages ${pages})
list(REMOVE_ITEM command_pages ${python_pages} ${source_pages})
find_program(FFMPEG ffmpeg)
if(NOT FFMPEG OR NOT TARGET parafield_frei0r_flow)
  list(REMOVE_ITEM command_pages docs/video-editors.md)
endif()
foreach(page ${command_pages})
  add_docs_test(Commands.${page} bash ${CMAKE_CURRENT_LIST_DIR}/run_page.sh ${page} $<TARGET_FILE:parafield_command>)
endforeach()
if("docs/video-editors.md" IN_LIST command_pages)
  set_tests_properties(Docs.Commands.docs/video-editors.md PROPERTIES
    ENVIRONMENT FREI0R_PATH=$<TARGET_FILE_DIR:parafield_frei0r_flow>)
endif()
file(GLOB results RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/results/*.md)
add_docs_test(Links bash ${CMAKE_CURRENT_LIST_DIR}/links.sh ${pages} CONTRIBUTING.md CHANGELOG.md bench/README.md bench/notes.md
  ${results})
add_docs_test(AddingAMethod bash ${CMAKE_CURRENT_LIST_DIR}/adding_a_method.sh ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})
find_program(PYTHON3 python3)
if(PYTHON3)
  add_docs_test(Parameters ${PYTHON3} scripts/parameters $<TARGET_FILE:parafield_command> --check)
  add_docs_test(Tables ${PYTHON3} scripts/tables --check)
  add_docs_test(FileBlocks ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/file_blocks.py docs/c.md)
endif()
# The site, from what is installed.
add_docs_test(Site scripts/docs ${CMAKE_CURRENT_BINARY_DIR}/site)
set(site_environment PARAFIELD_INSTALL=no)
if(Python_EXECUTABLE)
  list(APPEND site_environment PYTHON=${Python_EXECUTABLE})
endif()
set_tests_properties(Docs.Site PROPERTIES ENVIRONMENT "${site_environment}" SKIP_REGULAR_EXPRESSION "Not installed: ")
add_docs_test(CMakeBlocks bash ${CMAKE_CURRENT_LIST_DIR}/cmake_blocks.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
  docs/cpp.md:CXX docs/c.md:C)
