#!/usr/bin/env bash
# The first process of a node, in uts, mount, process and network namespaces of its own. All default
# paths of kubelet and containerd are private mounts here, so that both use their defaults and nothing is left behind.
set -euo pipefail
DIR=$1
# NAME, ADDRESS, API_ADDRESS, POD_CIDR, BIN, IMAGES
# shellcheck source=/dev/null
source "$DIR/config/settings"

hostname "$NAME"

# A sysfs shows the devices of the network namespace in which it was mounted. It covers the cgroups, so put them back.
private_sys() {
  mkdir -p "$DIR/cgroup"
  mount --rbind /sys/fs/cgroup "$DIR/cgroup"
  mount -t sysfs sysfs /sys
  mount --rbind "$DIR/cgroup" /sys/fs/cgroup
  umount --recursive --lazy "$DIR/cgroup"
}

private_directories() {
  # Sockets, and the network namespaces of pods, which would stay behind as plain files.
  mount -t tmpfs tmpfs /run
  mkdir -p /run/lab/{bin,images}
  mount --bind "$BIN" /run/lab/bin
  mount --bind "$IMAGES" /run/lab/images
  cp -r "$DIR/config/." /run/lab
  mount --bind "$DIR/log" /var/log
  mount --bind "$DIR/lib" /var/lib # hides $DIR, if it is in there
}

# A kubelet sets these values for the whole machine, unless they are already as it wants. So provide files with them.
pretend_sysctls() {
  local each file
  for each in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    file=/run/lab/${each//\//.}
    echo "${each#*=}" >"$file"
    mount --bind "$file" "/proc/sys/${each%=*}"
  done
}

import_images() {
  local image
  for image in /run/lab/images/*.tar; do
    # --local: the transfer service would look the names up in a registry.
    ctr -n k8s.io images import --local "$image" >/dev/null
  done
}

# Check the port first: it is cheap.
api_is_ready() {
  (: <"/dev/tcp/$API_ADDRESS/6443") && kubectl --kubeconfig=/run/lab/kubelet.conf --cache-dir=/run/lab/cache get --raw /readyz
} >/dev/null 2>&1

# Starts the kubelet again if restart-kubelet.sh ended it. If it ends by itself, the node ends.
run_kubelet() {
  local pid
  while :; do
    kubelet --config=/run/lab/kubelet.yaml --kubeconfig=/run/lab/kubelet.conf --node-ip="$ADDRESS" \
      >>/var/log/kubelet.log 2>&1 &
    pid=$!
    echo "$pid" >/run/lab/kubelet.pid
    # wait returns the status of the kubelet. It is not 0 after restart-kubelet.sh, and set -e would end the node.
    wait "$pid" || true
    [[ -e /run/lab/kubelet.restart ]] || return 1
    rm /run/lab/kubelet.restart
  done
}

private_sys
private_directories
pretend_sysctls
mount --make-rshared / # containers may ask for mounts that come and go in both directions
cd /
export PATH=/run/lab/bin:$PATH

containerd --config=/run/lab/containerd.toml >>/var/log/containerd.log 2>&1 &
until ctr version >/dev/null 2>&1; do
  kill -0 $! # ended by itself
  sleep 0.1
done
import_images
until api_is_ready; do sleep 0.3; done
# The size of the conntrack table belongs to the machine and cannot be set in a namespace: keep it.
kube-proxy --kubeconfig=/run/lab/kube-proxy.conf --proxy-mode=nftables --cluster-cidr="$POD_CIDR" \
  --conntrack-max-per-core=0 >>/var/log/kube-proxy.log 2>&1 &
run_kubelet &
# A node without one of the three is broken: end it, so that tests notice.
wait -n
