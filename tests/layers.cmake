# SPDX-License-Identifier: MIT
# An include points down the layers only:
#   apps, python, examples      the public headers
#   c                   core
#   tasks               methods, steps, core
#   methods             gradient, guided, markov: steps, core, never each other
#   rectification       core
#   steps               core
#   video               io, core
#   io color evaluation scenes masks      core
#   core
# Of the public headers, those that list methods (flow, stereo, detection) are for tasks and c alone. No file of src calls a
# task's public function: what tasks share is below these functions, so that no circle of calls can arise.
#   cmake -DSOURCE=<repository> -P layers.cmake
cmake_minimum_required(VERSION 3.25)
set(below_core core)
set(below_steps core steps)
foreach(family gradient guided markov)
  set(below_${family} core steps ${family})
endforeach()
set(below_rectification core rectification)
set(below_tasks core steps rectification gradient guided markov tasks)
foreach(folder io color evaluation scenes masks)
  set(below_${folder} core ${folder})
endforeach()
set(below_video core io video)
set(below_c core c)
set(lists_of_methods flow stereo detection parafield)
set(checked 0)

# Includes of a file, as "folder/..." in a list.
function(includes_of file result)
  file(STRINGS ${file} lines REGEX "^#include \"[^\"]+\"")
  list(TRANSFORM lines REPLACE "^#include \"([^\"]+)\".*" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

file(GLOB folders RELATIVE ${SOURCE}/src ${SOURCE}/src/*)
foreach(folder ${folders})
  if(NOT DEFINED below_${folder})
    message(SEND_ERROR "src/${folder} is in no layer: name it in tests/layers.cmake")
    continue()
  endif()
  file(GLOB_RECURSE files ${SOURCE}/src/${folder}/*.hpp ${SOURCE}/src/${folder}/*.cpp
    ${SOURCE}/src/${folder}/*.cuh ${SOURCE}/src/${folder}/*.cu)
  foreach(file ${files})
    file(STRINGS ${file} calls REGEX "[^A-Za-z_:](estimate_flow|estimate_disparity|detect_motion|examine_pair)\\(")
    list(FILTER calls EXCLUDE REGEX "^ *//|^(FlowField|DisparityField|MotionMask|PairFindings) ")
    foreach(call ${calls})
      message(SEND_ERROR "${file} calls a task's public function: ${call}")
    endforeach()
    includes_of(${file} includes)
    foreach(include ${includes})
      math(EXPR checked "${checked} + 1")
      string(REGEX REPLACE "/.*" "" target ${include})
      string(REGEX REPLACE ".*/(.*)\\.hpp" "\\1" name ${include})
      if(target STREQUAL "parafield")
        if(NOT folder MATCHES "^(tasks|c)$" AND include STREQUAL "parafield/${name}.hpp" AND name IN_LIST lists_of_methods)
          message(SEND_ERROR "${file} includes ${include}, which lists methods: fields are in parafield/fields.hpp")
        endif()
      elseif(NOT target IN_LIST below_${folder})
        message(SEND_ERROR "${file} includes ${include}, which is not below src/${folder}")
      endif()
    endforeach()
  endforeach()
endforeach()

file(GLOB_RECURSE public ${SOURCE}/include/*.hpp)
file(GLOB_RECURSE programs ${SOURCE}/apps/*.hpp ${SOURCE}/apps/*.cpp
  ${SOURCE}/python/src/*.hpp ${SOURCE}/python/src/*.cpp ${SOURCE}/examples/*.cpp)
foreach(file ${public} ${programs})
  includes_of(${file} includes)
  foreach(include ${includes})
    math(EXPR checked "${checked} + 1")
    if(EXISTS ${SOURCE}/src/${include})
      message(SEND_ERROR "${file} includes ${include}, which is not public")
    endif()
  endforeach()
endforeach()
if(checked EQUAL 0)
  message(FATAL_ERROR "no includes were found")
endif()
message("${checked} includes checked")
