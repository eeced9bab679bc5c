#!/usr/bin/env bash
# Prepares the Operator Lifecycle Manager for the lab: what a release of it has, made from its pinned Go module.
#   olm.sh            makes what is missing, and prints the directory with it
#   olm.sh --print    prints the directory, and makes nothing
# The directory has the manifests crds.yaml and olm.yaml, and the images olm.tar and opm.tar.
set -euo pipefail
# shellcheck source=lib/environment.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/environment.sh"
# shellcheck source=lib/image.sh
source "$HERE/lib/image.sh"

MODULE=github.com/operator-framework/operator-lifecycle-manager
VERSION=$(awk -v module=$MODULE '$1 == module {print $2}' "$HERE/modules/olm/go.mod")
# The image of which make catalog makes that of a catalog.
OPM_VERSION=$(awk '$1 == "github.com/operator-framework/operator-registry" {print $2}' "$HERE/modules/olm/go.mod")
OLM_IMAGE=quay.io/operator-framework/olm:$VERSION
OPM_IMAGE=quay.io/operator-framework/opm:$OPM_VERSION

olm_image() { # archive
  local program
  for program in olm catalog package-server; do image_add "$root" "$BIN/$program" "/bin/$program"; done
  image_archive "$root" "$1" '{"Entrypoint": ["/bin/olm"], "User": "1001", "Env": ["PATH=/bin"]}' "$OLM_IMAGE"
}

opm_image() { # archive
  image_add "$root" "$BIN/opm" /bin/opm
  image_add "$root" "$BIN/grpc-health-probe" /bin/grpc_health_probe
  image_archive "$root" "$1" '{"Entrypoint": ["/bin/opm"], "User": "1001", "Env": ["PATH=/bin"]}' "$OPM_IMAGE"
}

# As OLM's scripts package_release.sh and package_quickstart.sh do. The images have tags in place of digests, which nobody
# else has. Without an installType there is no catalog of operatorhub.io, which cannot be pulled.
manifests() { # directory
  local source rendered=$root/rendered
  source=$(cd "$HERE/modules/olm" && go mod download $MODULE && go list -m -f '{{.Dir}}' $MODULE)
  cp -r "$source/deploy" "$root/deploy" && chmod -R u+w "$root/deploy"
  sed -i "s/^version:.*/version: ${VERSION#v}/" "$root/deploy/chart/Chart.yaml"
  helm template -n olm -f "$root/deploy/upstream/values.yaml" --include-crds --output-dir "$rendered" "$root/deploy/chart" \
    --set "olm.image.ref=$OLM_IMAGE,catalog.image.ref=$OLM_IMAGE,package.image.ref=$OLM_IMAGE" \
    --set "package.image.pullPolicy=IfNotPresent,catalog.opmImageArgs=--opmImage=$OPM_IMAGE,installType=" >/dev/null
  cat "$rendered"/olm/crds/*.yaml >"$1/crds.yaml"
  cat "$rendered"/olm/templates/*.yaml >"$1/olm.yaml"
}

release_dir() {
  local key
  key=$({
    cat "$HERE"/modules/olm/* "$HERE"/lib/{families,image}.sh "$HERE/olm.sh"
    uname -m
  } | sha256sum | cut -c1-12)
  echo "$(dirname "$(dirname "$BIN")")/olm-release-$key"
}

# Each part begins with an empty $root.
make_part() { # function argument
  root=$(mktemp -d)
  chmod 755 "$root"
  mkdir -m 1777 "$root/tmp"
  "$@"
  rm -rf "$root"
}

main() {
  local dir root
  [[ ${1:-} == --print ]] || "$HERE/build.sh" helm opm olm >&2
  use_binaries
  dir=$(release_dir)
  if [[ ${1:-} != --print ]]; then
    exec 9>"$dir.lock"
    flock 9
    [[ -d $dir ]] || make_release "$dir"
  fi
  echo "$dir"
}

make_release() { # directory
  rm -rf "$1.tmp"
  mkdir -p "$1.tmp"
  make_part olm_image "$1.tmp/olm.tar"
  make_part opm_image "$1.tmp/opm.tar"
  make_part manifests "$1.tmp"
  mv "$1.tmp" "$1"
}

main "$@"
