#!/usr/bin/env bash
# Installs moto's server (https://github.com/getmoto/moto), which answers as Route 53 and DynamoDB, into the lab's cache.
#   moto.sh             installs it, unless it is there
#   moto.sh ARGUMENT... starts it, from the cache
# Cache: as of build.sh. Needs Python 3.10 or newer with venv, and PyPI.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REQUIREMENTS=$HERE/moto/requirements.txt
CACHE=${TRAFFIC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator/lab}

main() {
  local directory
  directory=$CACHE/moto-$(cat "$REQUIREMENTS" <(python3 --version) | sha256sum | cut -c1-12)
  if [[ $# -gt 0 ]]; then exec "$directory/bin/python" "$HERE/moto/server.py" "$@"; fi
  mkdir -p "$CACHE"
  exec 9>"$directory.lock"
  flock 9
  # Its last file is made when all is installed: an installation that was interrupted is made anew.
  if [[ -e $directory/complete ]]; then return; fi
  rm -rf "$directory"
  python3 -m venv "$directory"
  "$directory/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$REQUIREMENTS"
  touch "$directory/complete"
}

main "$@"
