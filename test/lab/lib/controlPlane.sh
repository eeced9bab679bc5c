# shellcheck shell=bash
# etcd, API server, controller manager and scheduler, all in the namespace lab-control-plane.

control_plane_certificates() (
  cd "$LAB/pki" || exit
  pki_ca
  pki_service_account_key
  pki_certificate apiserver /CN=kube-apiserver \
    "IP:$API_ADDRESS,IP:198.18.64.1,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  pki_certificate admin /O=system:masters/CN=admin
  pki_certificate apiserver-to-kubelet /O=system:masters/CN=apiserver-to-kubelet
  pki_certificate front-proxy-client /CN=front-proxy-client
  local name
  for name in kube-controller-manager kube-scheduler kube-proxy; do pki_certificate $name "/CN=system:$name"; done
  for name in admin kube-controller-manager kube-scheduler kube-proxy; do
    pki_kubeconfig $name "https://$API_ADDRESS:6443"
  done
)

start_in_control_plane() { # command...
  start_process "$1" ip netns exec lab-control-plane "$@"
}

start_api_server() {
  local pki=$LAB/pki
  # etcd spends most of its time on fsync, and this data need not survive a crash.
  start_in_control_plane etcd --data-dir="$LAB/etcd" --unsafe-no-fsync --log-level=warn \
    --listen-client-urls=http://127.0.0.1:2379 --advertise-client-urls=http://127.0.0.1:2379 \
    --listen-peer-urls=http://127.0.0.1:2380
  start_in_control_plane kube-apiserver --etcd-servers=http://127.0.0.1:2379 \
    --bind-address="$API_ADDRESS" --advertise-address="$API_ADDRESS" --secure-port=6443 \
    --service-cluster-ip-range="$SERVICE_CIDR" --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction --allow-privileged \
    --client-ca-file="$pki/ca.crt" \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --kubelet-client-certificate="$pki/apiserver-to-kubelet.crt" --kubelet-client-key="$pki/apiserver-to-kubelet.key" \
    --service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
    --service-account-issuer=https://kubernetes.default.svc \
    --requestheader-client-ca-file="$pki/ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$pki/front-proxy-client.crt" --proxy-client-key-file="$pki/front-proxy-client.key" \
    --audit-policy-file="$HERE/manifests/audit-policy.yaml" --audit-log-path="$LAB/log/audit.log"
}

# No leader election: there is one process of each, and an election delays each start by some seconds.
start_controllers() {
  local pki=$LAB/pki name
  for name in kube-controller-manager kube-scheduler; do
    local flags=(--kubeconfig="$pki/$name.conf" --authentication-kubeconfig="$pki/$name.conf"
      --authorization-kubeconfig="$pki/$name.conf" --bind-address=127.0.0.1 --leader-elect=false)
    if [[ $name == kube-controller-manager ]]; then
      # 20 s rather than 50: tests wait for a killed node to become NotReady. A kubelet reports every 10 s.
      flags+=(--service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt"
        --use-service-account-credentials --node-monitor-grace-period=20s
        --flex-volume-plugin-dir="$LAB/volume-plugins") # the default is below the machine's own /usr
    fi
    start_in_control_plane $name "${flags[@]}"
  done
}

wait_for_api_server() {
  wait_for_process etcd 20 ip netns exec lab-control-plane bash -c '</dev/tcp/127.0.0.1/2379' || return 1
  wait_for_process kube-apiserver 60 kubectl_lab get --raw /readyz
}

control_plane_down() {
  local name
  for name in kube-scheduler kube-controller-manager kube-apiserver etcd; do stop_process $name; done
}
