# SPDX-License-Identifier: MIT
# Objects that are compiled once for each instruction set must not share a symbol: the linker would keep one of them,
# and code for a newer processor could run on an older one. So everything that they define for others to see has to
# be of their own backend, whose type names the instruction set.
#   cmake -DNM=nm -DOBJECTS=a.o,b.o -P object_symbols.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
set(checked 0)
foreach(object ${objects})
  execute_process(COMMAND ${NM} --defined-only --extern-only -C ${object} OUTPUT_VARIABLE lines RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} failed on ${object}")
  endif()
  string(REPLACE ";" "," lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line ${lines})
    math(EXPR checked "${checked} + 1")
    if(NOT line MATCHES "CpuBackend(<\\(parafield::InstructionSet\\)[0-9]>|ILNS_14InstructionSetE[0-9]EE)"  # or not demangled
       AND NOT line MATCHES " (DW.ref|__asan|__odr_asan|__ubsan)")
      message(SEND_ERROR "${object} defines a symbol that is not of its own instruction set:\n  ${line}")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "no symbols were found")
endif()
message("${checked} symbols checked")
