#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Follows docs/adding-a-method.md in a copy of the source: writes the files of its blocks behind
# <!-- file: PATH -->, runs its commands, and compiles what has changed. The result is not linked or run.
#   bash adding_a_method.sh SOURCE COMPILER       COMPILER: of C++
#   bash adding_a_method.sh --only-write SOURCE   writes into SOURCE itself and compiles nothing
set -euo pipefail
only_write=
if [ "$1" = --only-write ]; then only_write=yes && shift; fi
source=$(realpath "$1")
page=docs/adding-a-method.md
copy=$source
if [ -z "$only_write" ]; then
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  cp -r "$source"/{include,src,tests,docs} "$copy"
  mkdir -p "$copy/python/parafield" && cp "$source/python/parafield/__init__.py" "$copy/python/parafield"
fi
cd "$copy"

awk '
  /^```/ && inside { inside = 0; if (file) close(file); file = ""; next }
  /^```/ { inside = 1; next }
  !inside && /^<!-- file: .+ -->$/ { file = $3; system("mkdir -p $(dirname " file ")"); printf "" > file; next }
  inside && file { print > file }' "$page"
awk '
  /^```/ && inside { inside = runs = 0; next }
  /^```/ { inside = 1; runs = $0 == "```sh" && !left_out; left_out = 0; next }
  !inside && /^<!-- not run: .+ -->$/ { left_out = 1 }
  !inside && /^[^<]/ { left_out = 0 }
  runs' "$page" | bash -euo pipefail
for name in include/parafield/flow.hpp src/tasks/flow.cpp tests/parity.hpp python/parafield/__init__.py; do
  grep -qi 'horn.\?schunck' "$name" || { echo "$page: its commands did not change $name" >&2; exit 1; }
done
[ -z "$only_write" ] || exit 0

compile() {
  "${compiler:?}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unknown-pragmas "$@"
}
compiler=$2
compile -Iinclude -Isrc -Itests -DPF_TARGET=baseline src/gradient/horn_schunck/cpu.cpp
compile -Itests/emulated/shadow -Itests -Iinclude -Isrc -xc++ src/gradient/horn_schunck/cuda.cu  # kernels as C++
compile -Iinclude -Isrc -Itests tests/gradient/horn_schunck_test.cpp
compile -Iinclude -Isrc src/tasks/flow.cpp
