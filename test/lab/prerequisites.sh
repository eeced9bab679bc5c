#!/usr/bin/env bash
# Checks what the lab needs before anything is built: Linux, root, programs. Installs missing programs as root on Debian;
# otherwise lists them and exits with status 1.
set -euo pipefail
# shellcheck source=lib/environment.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/environment.sh"

# A command, its Debian package, and its use in the lab.
NEEDED='
ip          iproute2                   network namespaces and links
tc          iproute2                   links of a limited speed
nsenter     util-linux                 namespaces of nodes
openssl     openssl                    certificates
sysctl      procps                     forwarding in nodes
nft         nftables                   Services, by kube-proxy
runc        runc                       containers
iperf3      iperf3                     the image that makes traffic
busybox     busybox-static             the image with a shell
buildah     buildah                    images from a Dockerfile
/usr/lib/cni/ptp  containernetworking-plugins  addresses of pods (elsewhere in /opt/cni/bin)
'

# Go is needed only if something must be built. Go 1.21 and newer download the required release themselves; Debian 12's
# Go is too old for that.
go_is_there() { "$HERE/build.sh" --complete || command -v go >/dev/null; }

is_there() { # command or path
  case $1 in
    busybox) [[ $(command -v busybox) ]] && ! ldd "$(command -v busybox)" >/dev/null 2>&1 ;; # static
    /usr/lib/cni/*) [[ -x $1 || -x /opt/cni/bin/${1##*/} ]] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing_lines() {
  local command package purpose
  while read -r command package purpose; do
    [[ -z $command ]] || is_there "$command" || echo "$command|$package|$purpose"
  done <<<"$NEEDED"
}

report() { # lines
  echo 'The lab needs these programs, which are not on this machine:' >&2
  while IFS='|' read -r command package purpose; do
    printf '  %-18s %s (Debian package %s)\n' "${command##*/}" "$purpose" "$package" >&2
  done <<<"$1"
  echo "On Debian or Ubuntu: sudo apt-get install --no-install-recommends $(packages_of "$1")" >&2
}

packages_of() { cut -d'|' -f2 <<<"$1" | sort -u | xargs; }

main() {
  local missing
  require_linux
  missing=$(missing_lines)
  if [[ -n $missing && $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2046 # one word a package
    "$HERE/install.sh" $(packages_of "$missing") || true # what is missing then is told below
    missing=$(missing_lines)
  fi
  [[ -z $missing ]] || report "$missing"
  if ! go_is_there; then
    echo 'The lab compiles its programs: it needs Go 1.21 or newer, from https://go.dev/dl' >&2
    missing+=go
  fi
  if [[ $EUID -ne 0 ]]; then
    echo "$NEEDS_ROOT" >&2
    missing+=root
  fi
  [[ -z $missing ]]
}

main
