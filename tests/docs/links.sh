#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Looks at pages: relative links lead to files and headings that exist, and the fences of blocks name what
# they hold, so that no command or program misses its test.
#   bash links.sh PAGES...
set -euo pipefail
failed=0
fail() {
  echo "$1" >&2
  failed=1
}

# The anchors that GitHub gives the headings of a page.
anchors() {
  awk '/^```/ { inside = !inside } !inside && /^#+ /' "$1" | sed -E 's/^#+ //' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

checked=0
for page in "$@"; do
  while IFS=: read -r line link; do
    checked=$((checked + 1))
    file=${link%%#*}
    target=$page
    [ -z "$file" ] || target=$(dirname "$page")/$file
    if [ ! -e "$target" ]; then
      fail "$page:$line: there is no $target"
    elif [[ $link == *#* ]] && ! anchors "$target" | grep -qxF -e "${link#*#}"; then
      fail "$page:$line: $target has no heading #${link#*#}"
    fi
  done < <(awk '/^```/ { inside = !inside } { print inside ? "" : $0 }' "$page" | grep -noE '\]\([^)]*\)' | sed -E 's/^([0-9]+):\]\((.*)\)$/\1:\2/' | grep -vE ':(https?|mailto):' || true)
  while IFS=: read -r line fence; do
    fail "$page:$line: $fence should be one of \`\`\`sh, c, cpp, python, cmake, json and text"
  done < <(awk '/^```/ { inside = !inside; if (inside) print FNR ":" $0 }' "$page" |
    grep -vE ':```(sh|c|cpp|python|cmake|json|text)$' || true)
done
echo "$checked links checked"
[ $checked -gt 0 ] || fail "no links were found"
exit $failed
