#!/usr/bin/env bash
# Limits what a node sends to everything else, the API server included: shape.sh NODE RATE|off, e.g. shape.sh node2 100mbit
# The device still reports 10 Gbit/s: the speed of a veth cannot be set.
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

main() {
  local node=$1 rate=$2
  require_root
  [[ -e /run/netns/lab-$node ]] || fail "no node '$node'"
  ip netns exec "lab-$node" tc qdisc del dev eth0 root 2>/dev/null || true
  [[ $rate != off ]] || return 0
  # The burst must hold the bytes of one tick of the kernel's clock; latency is the maximum time of a packet in the queue.
  ip netns exec "lab-$node" tc qdisc add dev eth0 root tbf rate "$rate" burst 128kb latency 50ms
}

[[ $# -eq 2 ]] || fail 'usage: shape.sh NODE RATE|off'
main "$@"
