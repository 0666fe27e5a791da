#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the commands of a page, in order, in a new folder with parafield on PATH, and names the line of the one
# that fails:
#   bash run_page.sh PAGE PARAFIELD
# The commands are the lines of its ```sh blocks. A block behind the comment <!-- not run: REASON --> is left
# out.
set -euo pipefail
page=$(realpath "$1")
parafield=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/work"
ln -s "$parafield" "$folder/bin/parafield"

# All other lines become empty, so that bash counts the lines of the page.
awk '
  /^```/ && inside { inside = runs = 0; print ""; next }
  /^```/ { inside = 1; runs = $0 == "```sh" && !left_out; left_out = 0; print ""; next }
  !inside && /^<!-- not run: .+ -->$/ { left_out = 1 }
  !inside && /^[^<]/ { left_out = 0 }
  { print runs ? $0 : "" }' "$page" >"$folder/page.sh"

cat >"$folder/before.sh" <<'BEFORE'
unset BASH_ENV
set -euo pipefail
trap 'echo "$page:$LINENO: failed: $BASH_COMMAND" >&2' ERR
BEFORE
cd "$folder/work"
if ! page=$1 PATH="$folder/bin:$PATH" BASH_ENV="$folder/before.sh" bash "$folder/page.sh" \
  >"$folder/output" 2>&1; then
  tail -n 20 "$folder/output" >&2
  exit 1
fi
