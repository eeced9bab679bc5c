#!/usr/bin/env bash
# Builds the image of the catalog that `make catalog` has written, from its own Dockerfile, into a docker archive.
#   catalog.sh NAME ARCHIVE      NAME as containerd writes it out: docker.io/library/traffic-operator-catalog:0.1.0
# The base image is that of test/lab/olm.sh.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator/image
# shellcheck source=base.sh
source "$HERE/base.sh"
# shellcheck source=store.sh
source "$HERE/store.sh"

main() {
  local name=$1 archive=$2
  mkdir -p "$CACHE"
  exec 9>"$CACHE/lock"
  flock 9
  require_programs
  make_store
  in_store pull --quiet "docker-archive:$("$ROOT/test/lab/olm.sh" --print)/opm.tar" >/dev/null
  if ! in_store build --pull=never --tag "$name" --file "$ROOT/dist/catalog.Dockerfile" "$ROOT/dist" >"$STORE/log" 2>&1; then
    tail -n 40 "$STORE/log" >&2
    return 1
  fi
  rm -f "$archive"
  in_store push --quiet "$name" "docker-archive:$archive:$name"
}

[[ $# -eq 2 ]] || { echo 'usage: catalog.sh NAME ARCHIVE' >&2 && exit 2; }
main "$@"
