#!/usr/bin/env bash
# Builds the images that the lab's nodes have from the start, from local files: no registry is available.
#   images.sh            builds the missing images
#   images.sh --print    prints the directory of the archives, and builds nothing
set -euo pipefail
# shellcheck source=lib/environment.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/environment.sh"
# shellcheck source=lib/image.sh
source "$HERE/lib/image.sh"

PATH_ENV='"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]'

# Fills $root and packs it into an archive.
pause_image() {
  image_add "$root" "$BIN/pause" /pause
  make_image '{"Entrypoint": ["/pause"], "User": "65535:65535"}' lab.local/pause:1
}

busybox_image() {
  local applet
  image_add "$root" "$(command -v busybox)" /bin/busybox
  for applet in $(busybox --list); do ln -sf busybox "$root/bin/$applet"; done
  rm "$root/bin/busybox" && image_add "$root" "$(command -v busybox)" /bin/busybox # it lists itself
  # The second tag is for tests of an upgrade.
  make_image "{\"Cmd\": [\"sh\"], $PATH_ENV}" docker.io/library/busybox:{1.36,1.37}
}

# The tag latest is for manifests with imagePullPolicy: IfNotPresent; otherwise a kubelet always pulls that tag.
iperf3_image() {
  image_add "$root" "$(command -v iperf3)" /usr/bin/iperf3
  make_image "{\"Entrypoint\": [\"iperf3\"], $PATH_ENV}" docker.io/networkstatic/iperf3:{lab,latest}
}

node_exporter_image() {
  image_add "$root" "$BIN/node_exporter" /bin/node_exporter
  make_image "{\"Entrypoint\": [\"/bin/node_exporter\"], \"User\": \"nobody\", $PATH_ENV}" \
    quay.io/prometheus/node-exporter:v1.12.1
}

prometheus_image() {
  image_add "$root" "$BIN/prometheus" /bin/prometheus
  image_add "$root" "$BIN/promtool" /bin/promtool
  mkdir -m 777 "$root/prometheus"
  make_image "{\"Entrypoint\": [\"/bin/prometheus\"], \"WorkingDir\": \"/prometheus\", \"User\": \"nobody\", $PATH_ENV,
    \"Cmd\": [\"--config.file=/etc/prometheus/prometheus.yml\", \"--storage.tsdb.path=/prometheus\"]}" \
    quay.io/prometheus/prometheus:v3.15.0
}

coredns_image() {
  image_add "$root" "$BIN/coredns" /coredns
  make_image '{"Entrypoint": ["/coredns"]}' registry.k8s.io/coredns/coredns:v1.15.0
}

make_image() { # configuration name...
  local configuration=$1
  shift
  mkdir -p "$root/etc" && mkdir -m 1777 "$root/tmp"
  echo 'root:x:0:0:root:/:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/false' >"$root/etc/passwd"
  image_archive "$root" "$archive" "$configuration" "$@"
}

IMAGES=(pause coredns busybox iperf3 node_exporter prometheus)

# The name of the directory depends on the content of the images.
images_dir() {
  local key
  key=$({
    echo "$BIN"
    cat "$HERE/images.sh" "$HERE/lib/image.sh"
    sha256sum "$(command -v busybox)" "$(command -v iperf3)"
  } | sha256sum | cut -c1-12)
  echo "$(dirname "$(dirname "$BIN")")/images-$key"
}

main() {
  local dir name root archive
  use_binaries
  dir=$(images_dir)
  if [[ ${1:-} == --print ]]; then echo "$dir" && return; fi
  mkdir -p "$dir"
  for name in "${IMAGES[@]}"; do
    archive=$dir/$name.tar
    [[ ! -f $archive ]] || continue
    say "making the image $name"
    root=$(mktemp -d)
    chmod 755 "$root"
    "${name}_image"
    rm -rf "$root"
  done
}

main "$@"
