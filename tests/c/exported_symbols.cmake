# SPDX-License-Identifier: MIT
# The shared library exports the functions that interface.txt declares, and no other symbols of C.
#   cmake -DNM=nm -DLIBRARY=libparafield.so -DINTERFACE=interface.txt -P exported_symbols.cmake
execute_process(COMMAND ${NM} -D --defined-only --format=just-symbols ${LIBRARY}
  OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" exported "${exported}")
list(FILTER exported EXCLUDE REGEX "^_Z")
list(SORT exported)
file(READ ${INTERFACE} declared)
string(REPLACE ";" "" declared "${declared}")
string(REGEX MATCHALL "\n(const char\\*|parafield_code) parafield_[a-z_]+\\(" declared "${declared}")
list(TRANSFORM declared REPLACE ".* (parafield_[a-z_]+)\\(" "\\1")
list(SORT declared)
list(LENGTH declared count)
if(count EQUAL 0 OR NOT exported STREQUAL declared)
  message(FATAL_ERROR "exported: ${exported}\ndeclared: ${declared}")
endif()
message("${count} functions are exported")
