#!/usr/bin/env bash
# Checks every shell script of the project: all files in git that start as one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Programs for each of thousands of files would take most of the time: git looks for the line, and the shell whether it is the first one.
shebang='^#!.*[/ ](ba)?sh($| )'
scripts=()
while read -r file; do
  # A file of one line without a newline at its end makes read fail, but it is read.
  IFS= read -r first <"$file" || true
  if [[ $first =~ $shebang ]]; then scripts+=("$file"); fi
done < <(git grep -lIE --untracked "$shebang")
echo "shellcheck: ${#scripts[@]} scripts"
shellcheck --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
