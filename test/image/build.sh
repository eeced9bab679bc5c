#!/usr/bin/env bash
# Builds the operator's image from the project's own Dockerfile, and prints the path of a docker archive with it.
#   build.sh            builds unless an archive of the same inputs is in the cache
# No image registry is needed: the base images are made from local files under the names that the Dockerfile uses (see
# base.sh). npm packages come from the registry that npm is set up for.
# Cache: ${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator/image
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator/image
KEPT_ARCHIVES=3 # 130 MB each
export PATH=$ROOT/node_modules/.bin:$PATH
# shellcheck source=../lab/lib/image.sh
source "$ROOT/test/lab/lib/image.sh"
# shellcheck source=base.sh
source "$HERE/base.sh"
# shellcheck source=store.sh
source "$HERE/store.sh"

say() { printf 'image: %s\n' "$*" >&2; }

# Everything that decides what comes out: the build context (see .dockerignore), the Dockerfile and what makes the bases.
inputs_key() {
  cd "$ROOT"
  {
    find Dockerfile .dockerignore LICENSE package.json package-lock.json tsconfig.json src scripts/build scripts/build.ts \
      test/image/*.sh test/lab/lib/image.sh -type f ! -name '*.test.ts' ! -path '*/testdata/*' ! -path '*/testing/*' -print0 |
      LC_ALL=C sort -z | xargs -0 sha256sum
    node --version
    uname -m
  } | sha256sum | cut -c1-12
}

version() { node -p 'JSON.parse(fs.readFileSync(process.argv[1])).version' "$ROOT/package.json"; }

build_bases() {
  say 'making the base images from local files'
  build_rootfs "$STORE/build"
  base_image "$STORE/build" docker.io/library/node:24-slim
  runtime_rootfs "$STORE/runtime"
  base_image "$STORE/runtime" gcr.io/distroless/nodejs24-debian12:nonroot
}

base_image() { # rootfs name
  image_archive "$1" "$1.tar" '{"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]}' "$2"
  in_store pull --quiet "docker-archive:$1.tar" >/dev/null
}

# What this machine needs to reach its npm registry is lent to the build, and is in no layer.
secrets() {
  local ca=${NODE_EXTRA_CA_CERTS:-$(npm config get cafile)}
  if [[ -f $ca ]]; then printf -- '--secret\nid=ca,src=%s\n' "$ca"; fi
  if [[ -f $HOME/.npmrc ]]; then printf -- '--secret\nid=npmrc,src=%s\n' "$HOME/.npmrc"; fi
}

build_image() { # archive
  local args started=$SECONDS
  mapfile -t args < <(secrets)
  build_bases
  say "building $(image_name) with buildah (npm ci, bundle)"
  if ! in_store build --pull=never --tag "$(image_name)" "${args[@]}" "$ROOT" >"$STORE/log" 2>&1; then
    tail -n 40 "$STORE/log" >&2
    say 'the build failed, its last lines are above'
    return 1
  fi
  in_store push --quiet "$(image_name)" "docker-archive:$STORE/archive:$(image_name)"
  mv "$STORE/archive" "$1"
  say "built in $((SECONDS - started)) s"
}

# As containerd and the kubelet write the name `traffic-operator` out.
image_name() { echo "docker.io/library/traffic-operator:$(version)"; }

forget_old_archives() {
  find "$CACHE" -maxdepth 1 -name '*.tar' -printf '%T@ %p\n' | sort -rn | tail -n "+$((KEPT_ARCHIVES + 1))" |
    cut -d' ' -f2- | xargs -r -d '\n' rm -f
}

mkdir -p "$CACHE"
archive=$CACHE/traffic-operator-$(inputs_key).tar
exec 9>"$CACHE/lock"
flock 9
if [[ -f $archive ]]; then
  touch "$archive"
else
  require_programs
  make_store
  build_image "$archive"
  forget_old_archives
fi
echo "$archive"
