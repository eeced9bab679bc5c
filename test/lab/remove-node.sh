#!/usr/bin/env bash
# Removes a node from the running lab, like a machine that is switched off and deleted: remove-node.sh NAME
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
  # After the kubelet has ended: a running kubelet would register the node again.
  kubectl_lab delete node "$name" --ignore-not-found >/dev/null
}

main "$@"
