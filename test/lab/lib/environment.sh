# shellcheck shell=bash
# Paths, addresses and messages of the lab. Sourced by every script of the lab.
# shellcheck disable=SC2034 # used by the scripts that source this file

LAB=${TRAFFIC_LAB_DIR:-/var/lib/traffic-lab}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# 198.18.0.0/15 is reserved for network benchmarks (RFC 2544): no real host has an address in it.
NETWORK=198.18.0           # /24: the switch that nodes, control plane and host are plugged into
API_ADDRESS=$NETWORK.1
HOST_ADDRESS=$NETWORK.254  # this machine's own end
SERVICE_CIDR=198.18.64.0/20
DNS_ADDRESS=198.18.64.10
PODS=198.19                # node N has $PODS.N.0/24
POD_CIDR=$PODS.0.0/16
MOST_NODES=200

KUBECONFIG_FILE=$LAB/kubeconfig
STEP='starting'

# Debian installs ip, tc and nft in directories that are not in a user's PATH.
export PATH=$PATH:/usr/sbin:/sbin

say() { printf '%4ds  %s\n' "$SECONDS" "$*"; }

# The current step, for the message if it fails.
step() {
  STEP=$*
  say "$STEP"
}

fail() {
  printf 'lab: %s\n' "$*" >&2
  exit 1
}

NEEDS_ROOT='the lab needs root: it makes network namespaces, mounts and cgroups. Run it as root, or with sudo'

require_linux() { [[ $(uname -s) == Linux ]] || fail 'the lab needs Linux: network namespaces and cgroups'; }

require_root() {
  require_linux
  [[ $EUID -eq 0 ]] || fail "$NEEDS_ROOT"
}

require_lab() { [[ -f $KUBECONFIG_FILE ]] || fail "no lab is running in $LAB; start one with test/lab/up.sh"; }

# Puts the programs of build.sh first on PATH.
use_binaries() {
  BIN=$("$HERE/build.sh" --print-bin)
  export PATH=$BIN:$PATH
}

# The cache would otherwise be in the user's home and outlive the lab.
kubectl_lab() { kubectl --kubeconfig="$KUBECONFIG_FILE" --cache-dir="$LAB/kubectl-cache" "$@"; }

# Seconds since the machine was started. SECONDS of bash is of the wall clock: a wait would end at once, or never, when that is set.
uptime_seconds() {
  local up rest
  read -r up rest </proc/uptime
  echo "${up%.*}"
}

# Tries a command every 0.2 s until it succeeds; false after the given seconds.
wait_for() { # seconds command...
  local end=$(($(uptime_seconds) + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    (($(uptime_seconds) < end)) || return 1
    sleep 0.2
  done
}
