# shellcheck shell=bash
# A node: kubelet, containerd and kube-proxy in their own namespaces. node/run.sh is the part inside.

node_dir() { echo "$LAB/nodes/node$1"; }

# Creates the directory of a number, which reserves the number.
node_prepare() { # number
  local dir name=node$1
  dir=$(node_dir "$1")
  mkdir -p "$dir"/{config/cni,lib,log}
  network_add_node "$1"
  cgroup_add_node "$1"
  cp "$HERE"/node/{containerd.toml,kubelet.yaml} "$LAB"/pki/{ca.crt,kube-proxy.conf} "$dir/config"
  sed "s|@POD_CIDR@|$PODS.$1.0/24|" "$HERE/node/cni.conflist" >"$dir/config/cni/10-lab.conflist"
  sed -i "s|@NODE@|$name|; s|@DNS_ADDRESS@|$DNS_ADDRESS|" "$dir/config/kubelet.yaml"
  node_settings "$1" >"$dir/config/settings"
  node_certificate "$1"
}

# The settings that node/run.sh reads.
node_settings() { # number
  printf '%s=%q\n' NAME "node$1" ADDRESS "$(node_address "$1")" API_ADDRESS "$API_ADDRESS" POD_CIDR "$POD_CIDR" \
    BIN "$BIN" IMAGES "$LAB/images"
}

node_certificate() ( # number
  local name=node$1 config
  config=$(node_dir "$1")/config
  cd "$LAB/pki" || exit
  pki_certificate "$name" "/O=system:nodes/CN=system:node:$name" "DNS:$name,IP:$(node_address "$1")"
  pki_kubeconfig "$name" "https://$API_ADDRESS:6443"
  mv "$name.crt" "$config/kubelet.crt"
  mv "$name.key" "$config/kubelet.key"
  mv "$name.conf" "$config/kubelet.conf"
)

# Each node has a process namespace: when its first process is killed, the kernel kills all shims and pods.
# Mounts from outside appear in the node (slave); its own mounts do not appear outside.
node_start() { # number
  start_process "node$1" unshare --uts --mount --propagation slave --pid --fork --kill-child --mount-proc \
    nsenter --net="/run/netns/lab-node$1" "$HERE/node/run.sh" "$(node_dir "$1")"
}

node_wait() { # number
  wait_for_process "node$1" 90 node_is_ready "node$1" || {
    tail -n 10 "$(node_dir "$1")"/log/*.log >&2
    return 1
  }
}

node_is_ready() { # name
  [[ $(kubectl_lab get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}') == True ]]
}

node_remove() { # number
  stop_process "node$1"
  rm -rf "$(node_dir "$1")"
  cgroup_remove "traffic-lab/node$1"
}

# The pid of the node on this machine: the parent of the first process in its process namespace.
node_init_pid() { # name
  local parent
  parent=$(process_pid "$1") || fail "no node $1 runs"
  cat "/proc/$parent/task/$parent/children"
}

in_node() { # name command...
  local pid
  pid=$(node_init_pid "$1")
  shift
  nsenter --target "${pid// /}" --uts --mount --pid --net -- "$@"
}

node_kubelet() { in_node "$1" cat /run/lab/kubelet.pid; } # name; prints the kubelet's pid inside the node

node_has_new_kubelet() { # name pid-of-the-old-one
  [[ $(node_kubelet "$1") != "$2" ]] && in_node "$1" /run/lab/bin/kubectl get --raw /healthz --server http://127.0.0.1:10248 &&
    node_is_ready "$1"
}
