# SPDX-License-Identifier: MIT
# The library. A file's name says how it is compiled:
#   cpu.cpp, NAME_cpu.cpp    once for each instruction set of PARAFIELD_TARGETS, with PF_TARGET as its name
#   cuda.cu, NAME_cuda.cu    where there is a CUDA toolkit
#   any other .cpp           once
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
file(GLOB_RECURSE cpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/cpu.cpp ${PROJECT_SOURCE_DIR}/src/*_cpu.cpp)
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/cuda.cu ${PROJECT_SOURCE_DIR}/src/*_cuda.cu)
list(REMOVE_ITEM sources ${cpu_sources})
list(FILTER sources EXCLUDE REGEX "/src/video/")  # cmake/video.cmake
if(PARAFIELD_HAS_CUDA)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/core/cuda/absent.cpp)
else()
  list(FILTER sources EXCLUDE REGEX "/src/core/cuda/(runtime|backend|recording)\\.cpp$")
endif()

# With CMAKE_UNITY_BUILD, the files of each folder of src are compiled together, because headers take much of the
# time. Names in their unnamed namespaces must be unique there. The build with the address sanitizer compiles each
# file alone, as builds by default do.
function(compile_folders_together target)
  if(NOT unity_build OR (PARAFIELD_SANITIZE MATCHES "address" AND NOT PARAFIELD_BUILD_FUZZ))
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  foreach(file ${files})
    # jpeg.cpp and png.cpp share names.
    if(NOT file MATCHES "/io/(jpeg|png)\\.cpp$" AND file MATCHES "/src/([a-z0-9]+)/")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ takes the file that includes the others for a source and them for headers.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Options of every file of the library and of every test. Without them, results would not have the same bits on
# all devices.
add_library(parafield_build INTERFACE)
target_include_directories(parafield_build INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
set(host_options -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(warnings -Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND warnings -Wno-bitwise-instead-of-logical -Wno-unknown-pragmas)
endif()
target_compile_options(parafield_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${host_options};${warnings}>)
target_compile_definitions(parafield_build INTERFACE
  $<$<BOOL:${PARAFIELD_HAS_CUDA}>:PARAFIELD_HAS_CUDA> $<$<BOOL:${PNG_FOUND}>:PARAFIELD_HAS_PNG>
  $<$<BOOL:${JPEG_FOUND}>:PARAFIELD_HAS_JPEG> $<$<BOOL:${TIFF_FOUND}>:PARAFIELD_HAS_TIFF>
  $<$<BOOL:${NetCDF_FOUND}>:PARAFIELD_HAS_NETCDF>
  $<$<BOOL:${PARAFIELD_CHECK_REPLAYS}>:PARAFIELD_CHECK_REPLAYS>)
if(PARAFIELD_HAS_CUDA)
  target_include_directories(parafield_build SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()
if(PARAFIELD_SANITIZE)
  set(sanitize -fsanitize=${PARAFIELD_SANITIZE})
  # Tests are not looked through for undefined behavior of their own: that takes long to compile.
  set(in_tests $<$<BOOL:$<TARGET_PROPERTY:PARAFIELD_TEST>>:-fno-sanitize=undefined>)
  target_compile_options(parafield_build INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:${sanitize};-fno-sanitize-recover=all;-fno-omit-frame-pointer;${in_tests}>)
  target_link_options(parafield_build INTERFACE ${sanitize})
endif()
if(PARAFIELD_BUILD_FUZZ)
  # The fuzzer sees which branches of the library an input takes.
  target_compile_options(parafield_build INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()

set(file_formats "")
if(PNG_FOUND)
  list(APPEND file_formats PNG::PNG)
endif()
if(JPEG_FOUND)
  list(APPEND file_formats JPEG::JPEG)
endif()
if(TIFF_FOUND)
  list(APPEND file_formats TIFF::TIFF)
endif()
add_library(parafield_common OBJECT ${sources})
target_link_libraries(parafield_common PRIVATE parafield_build Threads::Threads ${file_formats})
# The readers that load a library know its name. Properties of files belong to a directory of CMake.
function(name_loaded_libraries)
  foreach(pair WebP:webp OpenEXR:exr)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 library)
    list(GET pair 1 file)
    string(TOUPPER ${file} name)
    if(${library}_FOUND)
      set_source_files_properties(${PROJECT_SOURCE_DIR}/src/io/${file}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
        COMPILE_DEFINITIONS PARAFIELD_${name}_NAME="${${library}_FILE}")
      if(NOT ${library}_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        set_source_files_properties(${PROJECT_SOURCE_DIR}/src/io/${file}.cpp PROPERTIES
          INCLUDE_DIRECTORIES "${${library}_INCLUDE_DIR}")
      endif()
    endif()
  endforeach()
endfunction()
name_loaded_libraries()
if(NetCDF_FOUND)
  target_include_directories(parafield_common SYSTEM PRIVATE ${NETCDF_INCLUDE_DIR})
  target_compile_definitions(parafield_common PRIVATE PARAFIELD_NETCDF_NAME="${NETCDF_NAME}")
endif()
target_precompile_headers(parafield_common PRIVATE <algorithm> <cmath> <cstring> <filesystem> <fstream> <functional>
  <memory> <optional> <sstream> <string> <variant> <vector>)
if(PARAFIELD_SANITIZE AND NOT PARAFIELD_BUILD_FUZZ)
  target_compile_options(parafield_common PRIVATE -O0)  # takes longer to compile than to run
endif()
if(PARAFIELD_SANITIZE MATCHES "address" AND NOT PARAFIELD_BUILD_FUZZ)
  file(GLOB renderers ${PROJECT_SOURCE_DIR}/src/scenes/*.cpp)  # most tests render scenes
  set_source_files_properties(${renderers} PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endif()
compile_folders_together(parafield_common)
set(objects $<TARGET_OBJECTS:parafield_common>)

if(PARAFIELD_DISPATCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(PARAFIELD_TARGETS v2 v3 v4)
  target_compile_definitions(parafield_build INTERFACE PARAFIELD_DISPATCH)
elseif(PARAFIELD_DISPATCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(PARAFIELD_TARGETS neon)  # every such processor has it
  target_compile_definitions(parafield_build INTERFACE PARAFIELD_DISPATCH)
else()
  set(PARAFIELD_TARGETS baseline)
endif()
# GCC 13 and newer gather only when told to: without, the default method of flow takes twice the time.
include(CheckCXXCompilerFlag)
set(gathers "")
foreach(flag -mgather -mtune-ctrl=use_gather_2parts,use_gather_4parts,use_gather_8parts)
  string(MAKE_C_IDENTIFIER "PARAFIELD_HAS_${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    set(gathers ${flag})
    break()
  endif()
endforeach()
foreach(target ${PARAFIELD_TARGETS})
  add_library(parafield_cpu_${target} OBJECT ${cpu_sources})
  target_link_libraries(parafield_cpu_${target} PRIVATE parafield_build)
  target_compile_definitions(parafield_cpu_${target} PRIVATE PF_TARGET=${target})
  target_precompile_headers(parafield_cpu_${target} PRIVATE <algorithm> <atomic> <exception> <memory> <mutex>
    <string> <thread> <tuple> <utility> <vector>)
  compile_folders_together(parafield_cpu_${target})
  if(NOT PARAFIELD_SANITIZE)
    target_compile_options(parafield_cpu_${target} PRIVATE -O3)
  endif()
  if(target MATCHES "^v[234]$")
    target_compile_options(parafield_cpu_${target} PRIVATE -march=x86-64-${target})
  endif()
  # Generic tuning leaves loops that gather scalar.
  if(target STREQUAL "v3")
    target_compile_options(parafield_cpu_${target} PRIVATE -mtune=haswell ${gathers})
  elseif(target STREQUAL "v4")
    target_compile_options(parafield_cpu_${target} PRIVATE -mtune=icelake-server -mprefer-vector-width=512 ${gathers})
  endif()
  list(APPEND objects $<TARGET_OBJECTS:parafield_cpu_${target}>)
endforeach()

if(PARAFIELD_HAS_CUDA)
  # CMake 3.25 does not know -std=c++20 for nvcc 13 and drops CUDA_STANDARD 20, so it is given as an option.
  # With CMAKE_UNITY_BUILD, the files of a folder are compiled together for PTX alone, because nvcc reads their headers
  # for the host and for each PTX. For machine code of all GPUs, eight at a time, so that several processors share
  # them. Code for chosen GPUs takes longer to optimize than headers to read, and is compiled by file.
  if(unity_build AND (code_for_all_gpus OR NOT CMAKE_CUDA_ARCHITECTURES MATCHES "native|real|[0-9](;|$)"))
    set(at_a_time 8)
    if(NOT code_for_all_gpus)
      list(LENGTH cuda_sources at_a_time)
    endif()
    set(together "")
    foreach(folder steps gradient guided markov)
      set(files ${cuda_sources})
      list(FILTER files INCLUDE REGEX "/src/${folder}/")
      list(REMOVE_ITEM cuda_sources ${files})
      set(part 1)
      while(files)
        list(SUBLIST files 0 ${at_a_time} included)
        list(REMOVE_ITEM files ${included})
        list(TRANSFORM included REPLACE "(.+)" "#include \"\\1\"\n")
        list(JOIN included "" included)
        set(name ${CMAKE_CURRENT_BINARY_DIR}/${folder}_together_${part}.cu)
        file(CONFIGURE OUTPUT ${name} CONTENT "${included}" @ONLY)
        list(APPEND together ${name})
        math(EXPR part "${part} + 1")
      endwhile()
    endforeach()
    list(APPEND cuda_sources ${together})
  endif()
  add_library(parafield_cuda OBJECT ${cuda_sources})
  set_target_properties(parafield_cuda PROPERTIES CUDA_STANDARD_REQUIRED OFF CUDA_SEPARABLE_COMPILATION OFF)
  if(code_for_all_gpus)
    set_target_properties(parafield_cuda PROPERTIES CUDA_ARCHITECTURES OFF)
    target_compile_options(parafield_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${code_for_all_gpus}>")
  endif()
  string(REPLACE ";" "," host_options_list "${host_options}")
  set(cuda_options -std=c++20 --fmad=false --expt-relaxed-constexpr --extended-lambda --diag-suppress=554
                   -Xcompiler=${host_options_list},-Wall,-Wno-unknown-pragmas)
  # Machine code for many GPUs is large, and this takes a third. Drivers older than CUDA 13's cannot read it.
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND cuda_options --compress-mode=size)
  endif()
  target_compile_options(parafield_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
  target_link_libraries(parafield_cuda PRIVATE parafield_build CUDA::cudart_static)
  list(APPEND objects $<TARGET_OBJECTS:parafield_cuda>)
endif()

# Exports nothing but what `map` names. A toolchain may link libstdc++ statically, and symbols of that copy, some of
# which the dynamic linker makes unique in a process, must not be mixed with another copy's, such as NumPy's.
function(export_only target map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# The static library is the target parafield, which tests link: they use what the shared one hides. The shared
# library is parafield_shared. Both have the same objects. parafield::parafield is the one that
# BUILD_SHARED_LIBS chooses.
function(add_kind target kind)
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME parafield EXPORT_NAME parafield LINKER_LANGUAGE CXX
    CUDA_STANDARD_REQUIRED OFF)  # as above: its file API, which pip's builds ask, would report an error
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:parafield_build> Threads::Threads ${file_formats})
  if(PARAFIELD_HAS_CUDA)  # programs that link the installed library need no CUDA toolkit: see install.cmake
    target_link_libraries(${target} PRIVATE
      $<BUILD_INTERFACE:CUDA::cudart_static> $<INSTALL_INTERFACE:parafield::cudart_static>)
  endif()
endfunction()
if(PROJECT_IS_TOP_LEVEL OR NOT BUILD_SHARED_LIBS)
  add_kind(parafield STATIC)
endif()
if(PROJECT_IS_TOP_LEVEL OR BUILD_SHARED_LIBS)
  add_kind(parafield_shared SHARED)
  export_only(parafield_shared ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  # Before 1.0 a minor version may change what programs are linked with.
  set_target_properties(parafield_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
if(BUILD_SHARED_LIBS)
  add_library(parafield::parafield ALIAS parafield_shared)
else()
  add_library(parafield::parafield ALIAS parafield)
endif()
