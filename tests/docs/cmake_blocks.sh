#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Configures a project with each of the ```cmake blocks of pages, which use the target my_program. They find
# this build as an installed library, and the source in the folder parafield beside.
#   bash cmake_blocks.sh SOURCE BUILD PAGE:LANGUAGE...      LANGUAGE: of the project, CXX or C
set -euo pipefail
source=$1 build=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for component in headers static video_static library shared video_library video_shared; do
  cmake --install "$build" --prefix "$folder/prefix" --component $component >/dev/null
done
for each in "$@"; do
  page=${each%:*} language=${each##*:}
  extension=c
  [ "$language" = C ] || extension=cpp
  blocks=$folder/${page//\//_}
  mkdir "$blocks"
  awk -v folder="$blocks" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```cmake$/ { inside = 1; file = folder "/block" FNR + 1 ".cmake" }
    !/^```/ && inside { print > file }' "$page"
  for block in "$blocks"/block*.cmake; do
    project=${block%.cmake}
    mkdir "$project"
    ln -s "$source" "$project/parafield"
    echo 'int main(void) {}' >"$project/main.$extension"
    {
      printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' "project(my_program LANGUAGES $language)" \
        "add_executable(my_program main.$extension)"
      cat "$block"
    } >"$project/CMakeLists.txt"
    cmake -S "$project" -B "$project/build" -DCMAKE_PREFIX_PATH="$folder/prefix" -DPARAFIELD_CUDA=OFF \
      >"$project/log" 2>&1 || { echo "$page:${project##*block}: it cannot be configured" >&2; cat "$project/log" >&2; exit 1; }
  done
done
