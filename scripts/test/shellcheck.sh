#!/usr/bin/env bash
# Checks every shell script of the project: all files in git that start as one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

is_script() { [[ -f $1 ]] && head -n 1 "$1" | tr -d '\0' | grep -qE '^#!.*\b(ba)?sh\b'; }

scripts=()
while read -r file; do
  if is_script "$file"; then scripts+=("$file"); fi
done < <(git ls-files --cached --others --exclude-standard)
echo "shellcheck: ${#scripts[@]} scripts"
shellcheck --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
