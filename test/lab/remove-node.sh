#!/usr/bin/env bash
# Takes a node off the running lab, as a machine that is switched off and deleted: remove-node.sh NAME
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

main() {
  local name=${1:-} number
  number=${name#node}
  require_root
  require_lab
  [[ $name == node* && -d $LAB/nodes/$name ]] || fail "no node '$name'; there are: $(node_numbers | sed 's/^/node/' | xargs)"
  use_binaries
  node_remove "$number"
  network_remove_node "$number"
  # Only now, or the kubelet would register itself again.
  kubectl_lab delete node "$name" --ignore-not-found >/dev/null
}

main "$@"
