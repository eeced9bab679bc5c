#!/usr/bin/env bash
# Starts a Kubernetes cluster: a control plane and nodes in network namespaces of this machine.
#   up.sh [NODES]     default: 3 nodes
# Takes down a running lab, or the rest of one, first.
# State: ${TRAFFIC_LAB_DIR:-/var/lib/traffic-lab}
set -euo pipefail
# shellcheck source=lib/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/lab.sh"

NODES=${1:-3}
FINISHED=

# A signal may arrive while a command's output is redirected. Messages go to this descriptor.
exec 3>&2

# Runs at every end of the script: a lab that did not start must leave nothing behind.
take_down_on_failure() {
  local status=$?
  if [[ -n $FINISHED || $status -eq 0 ]]; then return; fi
  set +e
  exec >&3 2>&3
  show_logs_of_ended
  printf 'lab: failed at: %s (exit code %d); taking down what was started\n' "$STEP" "$status" >&2
  lab_down
  exit "$status"
}

start_control_plane() {
  step 'making certificates'
  control_plane_certificates
  cp "$LAB/pki/admin.conf" "$KUBECONFIG_FILE"
  step 'starting etcd and the API server'
  start_api_server
}

start_nodes() {
  local number
  step "starting $NODES nodes"
  for ((number = 1; number <= NODES; number++)); do node_prepare "$number"; done
  # They import their images while the API server starts.
  for ((number = 1; number <= NODES; number++)); do node_start "$number"; done
}

start_cluster_services() {
  kubectl_lab apply -f "$HERE/manifests/kube-proxy.yaml" -f "$HERE/manifests/coredns.yaml" >/dev/null
}

wait_for_nodes() {
  local number
  for ((number = 1; number <= NODES; number++)); do
    step "waiting for node$number to be Ready"
    node_wait "$number"
  done
  step 'waiting for CoreDNS'
  kubectl_lab -n kube-system rollout status deployment/coredns --timeout=60s >/dev/null
}

main() {
  if ! [[ $NODES =~ ^[1-9][0-9]{0,2}$ ]] || ((NODES > MOST_NODES)); then fail "nodes: 1 to $MOST_NODES, not '$NODES'"; fi
  require_root
  "$HERE/prerequisites.sh"
  "$HERE/build.sh"
  "$HERE/images.sh"
  use_binaries
  if lab_left_something; then
    say 'taking down an earlier lab, or what is left of it'
    lab_down
  fi
  trap take_down_on_failure EXIT
  trap 'exit 130' INT TERM
  mkdir -p "$LAB"/{pid,log,pki,nodes,images}
  ln "$("$HERE/images.sh" --print)"/*.tar "$LAB/images" 2>/dev/null || cp "$("$HERE/images.sh" --print)"/*.tar "$LAB/images"
  step 'laying out the network'
  network_up
  start_control_plane
  start_nodes
  step 'waiting for the API server'
  wait_for_api_server
  step 'starting controllers and scheduler'
  start_controllers
  start_cluster_services
  wait_for_nodes
  FINISHED=yes
  say "$NODES nodes are Ready"
  cat <<TEXT

  export KUBECONFIG=$KUBECONFIG_FILE PATH=$BIN:\$PATH
  kubectl get nodes

The API server (https://$API_ADDRESS:6443), pods and services can be reached from this machine.
test/lab/down.sh takes the lab down.
TEXT
}

main
