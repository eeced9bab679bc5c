#!/usr/bin/env bash
# Installs Debian packages, as root.
#   install.sh PACKAGE...
# Waits for other calls, because apt-get fails while another one runs. Starts no service: Debian calls policy-rc.d before
# it starts one (invoke-rc.d(8)), and the exit status 101 forbids it.
set -euo pipefail

CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator
POLICY=/usr/sbin/policy-rc.d

mkdir -p "$CACHE"
exec 9>"$CACHE/install.lock"
flock 9
LOG=$(mktemp)
made=
clean_up() {
  rm -f "$LOG"
  [[ -z $made ]] || rm -f $POLICY
}
trap clean_up EXIT
if [[ ! -e $POLICY ]]; then
  made=yes
  printf '#!/bin/sh\nexit 101\n' >$POLICY && chmod 755 $POLICY
fi
echo "installing $*" >&2
{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } >"$LOG" 2>&1 9>&- || {
  tail -n 20 "$LOG" >&2
  echo "install.sh: apt-get failed to install $*" >&2
  exit 1
}
