# SPDX-License-Identifier: MIT
# Sets `result` to the GPUs that a build for any machine is compiled for, as CMAKE_CUDA_ARCHITECTURES wants
# them, and `options` to the same for nvcc. They are machine code for each GPU below that this nvcc knows, and
# PTX, from which drivers compile code for GPUs that are newer still. Other GPUs run the code of a smaller
# number with the same first digits: 8.9 that of 8.6, 10.3 that of 10.0, 12.1 that of 12.0. NVIDIA recommends
# code of their own for GPUs of 8.6, which have twice the units of 8.0 for floats. Jetsons run no other GPU's
# code.
#
# nvcc compiles C++ to PTX for the numbers of `virtual` alone, and PTX to machine code for all, because either
# takes half of the time. The PTX of other numbers is the same: kernels compare __CUDA_ARCH__ with 800 and 900
# alone, and nvcc 13 has another optimizer from 10.0 on.
function(all_cuda_architectures result options)
  set(wanted 75  # Turing
             80 86  # Ampere: A100, GeForce 30; Ada: GeForce 40
             90  # Hopper
             100 120)  # Blackwell: B200, GeForce 50
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    list(APPEND wanted 87 110)  # Jetson Orin, Thor
    list(SORT wanted COMPARE NATURAL)
  endif()
  set(virtual 75 80 90 100)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${CMAKE_CUDA_COMPILER} --list-gpu-arch failed: ${failed}")
  endif()
  set(architectures "")
  set(code "")
  foreach(number ${wanted})
    if(known MATCHES "compute_${number}[^0-9]")
      foreach(candidate ${virtual})
        if(candidate LESS_EQUAL number)
          set(from ${candidate})
        endif()
      endforeach()
      list(APPEND architectures ${number}-real)
      list(APPEND code --generate-code=arch=compute_${from},code=sm_${number})
    endif()
  endforeach()
  set(${result} ${architectures} ${from}-virtual PARENT_SCOPE)
  set(${options} ${code} --generate-code=arch=compute_${from},code=compute_${from} PARENT_SCOPE)
endfunction()
