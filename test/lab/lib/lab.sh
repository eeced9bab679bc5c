# shellcheck shell=bash
# Everything that the scripts which change a lab need.
# shellcheck source=environment.sh
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
# shellcheck source=process.sh
source "$HERE/lib/process.sh"
# shellcheck source=network.sh
source "$HERE/lib/network.sh"
# shellcheck source=cgroup.sh
source "$HERE/lib/cgroup.sh"
# shellcheck source=pki.sh
source "$HERE/lib/pki.sh"
# shellcheck source=controlPlane.sh
source "$HERE/lib/controlPlane.sh"
# shellcheck source=node.sh
source "$HERE/lib/node.sh"
# shellcheck source=down.sh
source "$HERE/lib/down.sh"
