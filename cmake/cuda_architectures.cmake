# SPDX-License-Identifier: MIT
# Sets `result` to the GPUs that a build for any machine is compiled for, as CMAKE_CUDA_ARCHITECTURES wants them:
# machine code for each GPU below that this nvcc knows, and PTX of the newest, from which drivers compile code
# for GPUs that are newer still. GPUs that are missing here run the code of a smaller number with the same first
# digits.
function(all_cuda_architectures result)
  set(wanted 75  # Turing
             80 86 87  # Ampere: A100, GeForce 30, Jetson Orin
             89  # Ada
             90  # Hopper
             100 103 110 120)  # Blackwell: B200, B300, Jetson Thor, GeForce 50
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} --list-gpu-arch failed: ${failed}")
  endif()
  set(list "")
  foreach(number ${wanted})
    if(known MATCHES "compute_${number}[^0-9]")
      list(APPEND list ${number}-real)
      set(newest ${number})
    endif()
  endforeach()
  list(APPEND list ${newest}-virtual)
  set(${result} ${list} PARENT_SCOPE)
endfunction()
