#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs a program that uses libparafield.so: an example, or tests/c/opencv_program.cpp.
#   bash example.sh LANGUAGE SOURCE FOLDER      FOLDER holds libparafield.so. Exit code 77: a tool is missing
set -euo pipefail
language=$1 folder=$(realpath "$3") root=$(realpath "$(dirname "$0")/../..")
source=$root/$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
needs() {
  command -v "$1" >/dev/null || { echo "Skipped: there is no $1${2:+ (Debian: $2)}"; exit 77; }
}
library=(-L"$folder" -lparafield -Wl,-rpath,"$folder")
expected='^flow \(-3\.0, -?0\.0\) px'
export LD_LIBRARY_PATH=$folder
case $language in
  c)
    needs "${CC:-cc}"
    "${CC:-cc}" -std=c99 -pedantic-errors -Wall -Wextra -Wconversion -Werror -I"$root/include" "$source" \
      -o "$work/program" "${library[@]}"
    expected+=', disparity 3 px, moving 1$'
    run=("$work/program")
    ;;
  python)
    needs python3
    run=(python3 "$source" "$folder/libparafield.so")
    ;;
  rust)
    needs rustc rustc
    rustc -D warnings "$source" -L "$folder" -o "$work/program"
    run=("$work/program")
    ;;
  csharp)
    needs mcs mono-mcs
    mcs -unsafe -warnaserror "$source" -out:"$work/program.exe"
    run=(mono "$work/program.exe")
    ;;
  opencv)
    include=${OPENCV_INCLUDE:-/usr/include/opencv4}
    [ -e "$include/opencv2/core.hpp" ] ||
      { echo "Skipped: there is no $include/opencv2/core.hpp (Debian: libopencv-core-dev)"; exit 77; }
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Werror -I"$root/include" -isystem "$include" "$source" \
      -o "$work/program" "${library[@]}" ${OPENCV_LIBRARY:--lopencv_core}
    expected='^opencv\.hpp works$'
    run=("$work/program")
    ;;
esac
"${run[@]}" | tee "$work/output"
grep -qE "$expected" "$work/output" || { echo "the output is not $expected" >&2; exit 1; }
