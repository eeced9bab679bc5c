#!/usr/bin/env bash
# Runs a command in a node's namespaces, as on the node itself: in-node.sh NODE COMMAND...
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

[[ $# -ge 2 ]] || fail 'usage: in-node.sh NODE COMMAND...'
require_root
require_lab
in_node "$@"
