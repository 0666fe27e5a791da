# SPDX-License-Identifier: MIT
# A module of frei0r shows frei0r's functions and nothing else, and needs no other library than those of C++.
#   cmake -DNM=nm -DMODULE=parafield_flow.so -P frei0r_symbols.cmake
execute_process(COMMAND ${NM} -D --defined-only ${MODULE} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" names "${lines}")
list(TRANSFORM names STRIP)
list(LENGTH names count)
if(NOT count EQUAL 9)
  message(SEND_ERROR "frei0r has 9 functions for filters; the module shows ${names}")
endif()
list(FILTER names EXCLUDE REGEX "^f0r_[a-z_]+$")
if(names)
  message(SEND_ERROR "the module shows ${names}")
endif()
file(GET_RUNTIME_DEPENDENCIES MODULES ${MODULE} RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR missing)
list(APPEND libraries ${missing})
list(FILTER libraries EXCLUDE REGEX "(ld-linux[^/]*|libc|libm|libgcc_s|libstdc\\+\\+|libdl|libpthread|librt)\\.so[.0-9]*$")
if(libraries)
  message(SEND_ERROR "the module needs ${libraries}")
endif()
