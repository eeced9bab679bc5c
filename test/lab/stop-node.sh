#!/usr/bin/env bash
# Ends a node of the running lab like a machine that is switched off: its Node object stays. stop-node.sh NAME
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

main() {
  local name=${1:-}
  require_root
  require_lab
  [[ $name == node* && -d $LAB/nodes/$name ]] || fail "no node '$name'; there are: $(node_numbers | sed 's/^/node/' | xargs)"
  stop_process "$name"
}

main "$@"
