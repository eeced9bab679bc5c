#!/usr/bin/env bash
# Adds a node to the running lab, waits until it is Ready and prints its name.
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

ADDED=

take_back_on_failure() {
  [[ $? -ne 0 && -n $ADDED ]] || return 0
  echo "lab: node$ADDED did not become Ready; taking it back" >&2
  node_remove "$ADDED"
  network_remove_node "$ADDED"
  kubectl_lab delete node "node$ADDED" --ignore-not-found >/dev/null
}

main() {
  local number
  require_root
  require_lab
  use_binaries
  number=$(node_numbers | tail -n 1)
  number=$((${number:-0} + 1))
  ((number <= MOST_NODES)) || fail "there are $MOST_NODES nodes already"
  trap take_back_on_failure EXIT
  ADDED=$number
  node_prepare "$number"
  node_start "$number"
  node_wait "$number"
  ADDED=
  echo "node$number"
}

main
