#!/usr/bin/env bash
# Restarts the kubelet of a node, as an upgrade of the node does: restart-kubelet.sh NODE. Returns once the new kubelet
# is healthy and the node Ready. The containers keep running; the new kubelet admits the node's pods again.
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

main() {
  local node=$1 old
  require_root
  require_lab
  use_binaries
  old=$(node_kubelet "$node")
  # If this file exists, node/run.sh starts the kubelet again; otherwise it ends the node.
  in_node "$node" touch /run/lab/kubelet.restart
  in_node "$node" kill "$old"
  wait_for 60 node_has_new_kubelet "$node" "$old" || fail "$node has no healthy kubelet again; see nodes/$node/log/kubelet.log"
}

[[ $# -eq 1 ]] || fail 'usage: restart-kubelet.sh NODE'
main "$@"
