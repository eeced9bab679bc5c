#!/usr/bin/env bash
# Takes the lab down. Leaves no process, mount, namespace, cgroup or file behind.
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

require_root
lab_down
say 'the lab is down'
