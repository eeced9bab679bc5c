# shellcheck shell=bash
# One bridge in its own namespace. The control plane, every node and this machine are connected to it.
#
#   lab-switch:  br0 --- control-plane (198.18.0.1)
#                    --- node1 (198.18.0.11), node2 (198.18.0.12), ...
#                    --- lab0 in the machine's own namespace (198.18.0.254)

HOST_DEVICE=lab0

network_up() {
  [[ -z $(ip -4 address show to 198.18.0.0/15) ]] || fail 'an address of 198.18.0.0/15 is in use on this machine already'
  # The first `ip netns add` on a machine makes /run/netns a mount; network_down undoes that.
  mountpoint -q /run/netns || touch "$LAB/made-run-netns"
  ip netns add lab-switch
  ip -n lab-switch link add br0 type bridge
  ip -n lab-switch link set br0 up
  network_namespace control-plane "$API_ADDRESS"
  ip link add "$HOST_DEVICE" type veth peer name host netns lab-switch
  ip -n lab-switch link set host master br0 up
  ip address add "$HOST_ADDRESS/24" dev "$HOST_DEVICE"
  ip link set "$HOST_DEVICE" up
}

# Creates the namespace lab-NAME, whose eth0 is connected to the bridge.
network_namespace() { # name address
  ip netns add "lab-$1"
  ip -n "lab-$1" link set lo up
  ip link add eth0 netns "lab-$1" type veth peer name "$1" netns lab-switch
  ip -n lab-switch link set "$1" master br0 up
  ip -n "lab-$1" address add "$2/24" dev eth0
  ip -n "lab-$1" link set eth0 up
}

node_address() { echo "$NETWORK.$((10 + $1))"; }

# The numbers of the existing nodes.
node_numbers() {
  local directory
  for directory in "$LAB"/nodes/node*; do
    if [[ -d $directory ]]; then echo "${directory##*/node}"; fi
  done | sort -n
}

network_add_node() { # number
  local number=$1 other
  network_namespace "node$number" "$(node_address "$number")"
  # Service addresses need a route before kube-proxy can rewrite them. Nothing else uses this route.
  ip -n "lab-node$number" route add default via "$API_ADDRESS"
  ip netns exec "lab-node$number" sysctl -qw net.ipv4.ip_forward=1
  for other in $(node_numbers); do
    [[ $other != "$number" ]] || continue
    ip -n "lab-node$number" route replace "$PODS.$other.0/24" via "$(node_address "$other")"
    ip -n "lab-node$other" route replace "$PODS.$number.0/24" via "$(node_address "$number")"
  done
  ip -n lab-control-plane route replace "$PODS.$number.0/24" via "$(node_address "$number")"
  ip route replace "$PODS.$number.0/24" via "$(node_address "$number")"
  network_route_services
}

# Neither the control plane nor this machine runs kube-proxy: the one of the first node translates service addresses.
network_route_services() {
  local first
  first=$(node_numbers | sed -n 1p)
  if [[ -z $first ]]; then return; fi
  ip -n lab-control-plane route replace "$SERVICE_CIDR" via "$(node_address "$first")"
  ip route replace "$SERVICE_CIDR" via "$(node_address "$first")"
}

# The node's directory is already removed, so its number is not listed.
network_remove_node() { # number
  local number=$1 other
  network_delete_namespace "lab-node$number"
  for other in $(node_numbers); do ip -n "lab-node$other" route del "$PODS.$number.0/24" || true; done
  ip -n lab-control-plane route del "$PODS.$number.0/24" || true
  ip route del "$PODS.$number.0/24" || true
  network_route_services
}

# Ends all processes in a namespace, such as a forgotten shell, and deletes it.
network_delete_namespace() { # name
  local pid
  for pid in $(ip netns pids "$1" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
  ip netns delete "$1"
}

network_namespaces() { ip netns list 2>/dev/null | awk '/^lab-/ {print $1}'; }

network_down() {
  local name
  for name in $(network_namespaces); do network_delete_namespace "$name"; done
  # The other end was in lab-switch, but the kernel deletes the devices of a namespace later.
  ip link delete "$HOST_DEVICE" 2>/dev/null || true
  if [[ -f $LAB/made-run-netns && -z $(ls /run/netns) ]]; then
    umount /run/netns
    rmdir /run/netns
  fi
}
