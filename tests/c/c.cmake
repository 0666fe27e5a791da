# SPDX-License-Identifier: MIT
# The C interface as other languages see it: exported symbols, and the examples with the shared library.
add_test(NAME CInterface.ExportedSymbols COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM}
  -DLIBRARY=$<TARGET_FILE:parafield_shared> -DINTERFACE=${CMAKE_CURRENT_SOURCE_DIR}/c/interface.txt
  -P ${CMAKE_CURRENT_SOURCE_DIR}/c/exported_symbols.cmake)
set_tests_properties(CInterface.ExportedSymbols PROPERTIES LABELS c)
foreach(program c:examples/three_tasks.c python:examples/flow.py rust:examples/flow.rs
    csharp:examples/Flow.cs opencv:tests/c/opencv_program.cpp)
  string(REPLACE ":" ";" program ${program})
  list(POP_FRONT program language)
  add_test(NAME CInterface.Program.${language}
    COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/c/example.sh ${language} ${program} $<TARGET_FILE_DIR:parafield_shared>)
  set_tests_properties(CInterface.Program.${language} PROPERTIES SKIP_RETURN_CODE 77 LABELS c
    ENVIRONMENT CXX=${CMAKE_CXX_COMPILER})
endforeach()
