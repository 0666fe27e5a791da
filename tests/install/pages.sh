# SPDX-License-Identifier: MIT
# Looks at the manual pages and at bash's completion in a share folder, and asks that they name every option that the
# command's --help-all names: bash pages.sh SHARE COMMAND
set -eu
share=$1 parafield=$2
. "$share/bash-completion/completions/parafield"
# Prints what bash offers for the last of the words.
completed() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _parafield
  echo "${COMPREPLY[*]}"
}
expect() {
  [ "$1" = "$2" ] || { echo "expected '$2', not '$1'" >&2; exit 1; }
}
expect "$(completed parafield fl)" flow
expect "$(completed parafield flow --fb-)" --fb-check
expect "$(completed parafield flow --method luc)" lucas-kanade
expect "$(completed parafield flow --method = luc)" lucas-kanade
expect "$(completed parafield flow -m icm --data cen)" census
expect "$(completed parafield flow --output '')" ""
expect "$(completed parafield synth fly)" flythrough

for command in $(completed parafield "" | tr ' ' '\n' | grep -v ^-); do
  page=$share/man/man1/parafield-$command.1
  for option in $("$parafield" "$command" --help-all | sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' ' '); do
    grep -qF -e "\\fB${option//-/\\-}\\fR" "$page" || { echo "$page does not name $option" >&2; exit 1; }
    expect "$(completed parafield "$command" "$option" | tr ' ' '\n' | grep -xF -e "$option")" "$option"
  done
done
if command -v man >/dev/null && command -v groff >/dev/null; then
  for page in "$share"/man/man1/parafield*; do
    expect "$(man --warnings -l "$page" 2>&1 >/dev/null)" ""
  done
fi
