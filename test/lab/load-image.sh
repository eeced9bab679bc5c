#!/usr/bin/env bash
# Imports image archives (docker or OCI) into every node's containerd, and keeps them for nodes that are added later.
#   load-image.sh FILE.tar...
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

import_into() { # node archive
  local output
  # Hides its warnings, shows its errors.
  output=$(in_node "$1" /run/lab/bin/ctr -n k8s.io images import --local - 2>&1 <"$2") || fail "$1 refuses $2: $output"
}

main() {
  local archive number
  require_root
  require_lab
  use_binaries
  for archive in "$@"; do
    [[ -r $archive ]] || fail "cannot read $archive"
    # The name begins with the time: a new node imports the archives in this order, and of two with the same image name the
    # newer one wins, as on the other nodes.
    install -m 644 "$archive" "$LAB/images/$(date +%s%N)-$(basename "$archive")"
    for number in $(node_numbers); do import_into "node$number" "$archive"; done
  done
}

[[ $# -gt 0 ]] || fail 'usage: load-image.sh FILE.tar...'
main "$@"
