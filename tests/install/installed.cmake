# SPDX-License-Identifier: MIT
# Installs each kind of library into an empty prefix and builds programs with it as a user would: by
# find_package and by pkg-config, where no CUDA toolkit is found. BUILD is the build, FEATURES are its
# "CUDA,PNG,JPEG,TIFF,FFMPEG".
set(folder ${BUILD}/installed)
file(REMOVE_RECURSE ${folder})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed: ${command}\n${output}")
  endif()
endfunction()
set(flags -std=c++20)
if(SANITIZE)
  list(APPEND flags -fsanitize=${SANITIZE})
endif()
list(JOIN flags " " cxx_flags)
# Public headers give no warnings; pkg-config's -I, unlike CMake's -isystem, would show them.
set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Werror)
set(without_cuda ${CMAKE_COMMAND} -E env --unset=CUDACXX --unset=CUDA_PATH PATH=/usr/bin:/bin)
find_program(PKG_CONFIG pkg-config)

set(components_static headers static video_static)
set(components_shared headers library shared video_library video_shared)
set(video video.y4m)
if(FFMPEG)
  set(video video.mp4)
endif()
set(examples_static ${SOURCE}/examples)
foreach(kind static shared)
  set(prefix ${folder}/${kind}/prefix)
  set(build ${folder}/${kind}/build)
  foreach(component ${components_${kind}})
    run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component ${component})
  endforeach()

  run(${without_cuda} ${CMAKE_COMMAND} -S ${SOURCE}/tests/install -B ${build} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${cxx_flags}
    -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -DKIND=${kind} -DVERSION=${VERSION} -DFEATURES=${FEATURES} -DEXAMPLES=${examples_${kind}})
  run(${without_cuda} ${CMAKE_COMMAND} --build ${build} --parallel 2)
  run(${build}/consumer)
  run(${build}/video_consumer ${build}/${video})

  if(kind STREQUAL "static")
    execute_process(COMMAND ${without_cuda} ${CMAKE_COMMAND} -S ${SOURCE}/tests/install -B ${build} -DKIND=shared
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE output)
    if(NOT failed OR NOT output MATCHES "component shared is not\n? *installed")
      message(FATAL_ERROR "a component that is missing was not named: ${output}")
    endif()
  endif()

  if(PKG_CONFIG)
    file(GLOB_RECURSE pc ${prefix}/*/parafield.pc)
    get_filename_component(pc_folder "${pc}" DIRECTORY)
    get_filename_component(library_folder ${pc_folder} DIRECTORY)
    foreach(program consumer:parafield video_consumer:parafield-video)
      string(REPLACE ":" ";" program ${program})
      list(POP_BACK program package)
      execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder}
          ${PKG_CONFIG} --cflags --libs ${package}
        COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE options)
      separate_arguments(options UNIX_COMMAND "${options}")
      run(${without_cuda} ${COMPILER} ${flags} ${warnings} ${SOURCE}/tests/install/${program}.cpp
        -o ${folder}/${kind}/${program} ${options})
      run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_folder} ${folder}/${kind}/${program} ${folder}/${kind}/${video})
    endforeach()
  endif()
endforeach()

set(examples ${folder}/static/build/examples)
run(${examples}/flow_of_two_frames ${folder}/flow.png)
run(${examples}/flow_of_a_stream)
if(NOT EXISTS ${folder}/flow.png)
  message(FATAL_ERROR "the example wrote no picture")
endif()
