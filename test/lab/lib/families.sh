# shellcheck shell=bash
# What is built, and how. Each family but two has its own Go module, because their dependencies conflict.
# Sourced by build.sh.

# Families in the order of their use: from containerd on, only a cluster with nodes needs them. The programs of Kubernetes
# that only nodes need are a separate family, so that tests without nodes do not wait for them.
# shellcheck disable=SC2034 # used by build.sh
DEFAULT_FAMILIES=(k8s etcd node_exporter prometheus containerd k8s-node coredns helm kubeconform pause)
# Built only if named.
EXTRA_FAMILIES=(toxiproxy helm3 kwok victoriametrics thanos external-dns opm olm)

# One binary per line: the file name, then the Go package.
family_binaries() {
  case $1 in
    k8s) kubernetes_commands kube-apiserver kube-controller-manager kube-scheduler kubectl ;;
    k8s-node) kubernetes_commands kubelet kube-proxy ;;
    etcd) echo 'etcd go.etcd.io/etcd/server/v3' ;;
    node_exporter) echo 'node_exporter github.com/prometheus/node_exporter' ;;
    prometheus)
      echo 'prometheus github.com/prometheus/prometheus/cmd/prometheus'
      echo 'promtool github.com/prometheus/prometheus/cmd/promtool'
      ;;
    containerd)
      local command
      for command in containerd containerd-shim-runc-v2 ctr; do
        echo "$command github.com/containerd/containerd/v2/cmd/$command"
      done
      ;;
    pause) echo 'pause .' ;;
    coredns) echo 'coredns .' ;; # modules/coredns/main.go: only the plugins that the lab uses
    helm) echo 'helm helm.sh/helm/v4/cmd/helm' ;;
    helm3) echo 'helm3 helm.sh/helm/v3/cmd/helm' ;;
    kwok) echo 'kwok sigs.k8s.io/kwok/cmd/kwok' ;;
    kubeconform) echo 'kubeconform github.com/yannh/kubeconform/cmd/kubeconform' ;;
    toxiproxy) echo 'toxiproxy-server github.com/Shopify/toxiproxy/v2/cmd/server' ;;
    victoriametrics) echo 'victoria-metrics github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics' ;;
    thanos) echo 'thanos github.com/thanos-io/thanos/cmd/thanos' ;;
    external-dns) echo 'external-dns sigs.k8s.io/external-dns' ;;
    opm)
      echo 'opm github.com/operator-framework/operator-registry/cmd/opm'
      echo 'operator-verify github.com/operator-framework/api/cmd/operator-verify'
      echo 'operator-framework .' # modules/olm/main.go
      ;;
    olm)
      operator_framework_commands olm catalog package-server
      # The probe of a catalog's pods.
      echo 'grpc-health-probe github.com/grpc-ecosystem/grpc-health-probe'
      ;;
    *) return 1 ;;
  esac
}

operator_framework_commands() { # command...
  local command
  for command in "$@"; do echo "$command github.com/operator-framework/operator-lifecycle-manager/cmd/$command"; done
}

kubernetes_commands() { # command...
  local command
  for command in "$@"; do echo "$command k8s.io/kubernetes/cmd/$command"; done
}

# The directory of modules/ that pins a family's versions.
family_module() {
  case $1 in
    k8s-node) echo k8s ;;
    opm) echo olm ;; # the validators are those of the OLM that the tests run
    *) echo "$1" ;;
  esac
}

# Build tags that leave out unused code: compiling takes most of the time of a first build.
family_tags() {
  case $1 in
    prometheus) echo 'remove_all_sd' ;; # the clouds' discoveries; static and file discovery stay
    opm | olm) echo 'containers_image_openpgp' ;; # signatures of images without the C library gpgme
    thanos) echo 'slicelabels' ;;       # its own Makefile sets it: its labels are those of an older Prometheus
  esac
}

# Linker flags beyond -s -w.
family_ldflags() {
  local version package
  case $1 in
    k8s | k8s-node)
      # Kubernetes sets its version at link time. A kubelet with v0.0.0 works, but is confusing.
      version=$(module_version k8s k8s.io/kubernetes)
      package=k8s.io/component-base/version
      echo "-X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
      ;;
    helm3)
      # Without a cluster, helm renders for this version of Kubernetes. Its default is 1.20, which current charts reject.
      version=$(module_version helm3 k8s.io/client-go)
      for package in chartutil lint/rules; do
        package=helm.sh/helm/v3/pkg/$package
        echo "-X $package.k8sVersionMajor=1 -X $package.k8sVersionMinor=$(cut -d. -f2 <<<"$version")"
      done
      echo "-X helm.sh/helm/v3/internal/version.version=$(module_version helm3 helm.sh/helm/v3)"
      ;;
    prometheus) echo "-X github.com/prometheus/common/version.Version=$PROMETHEUS_VERSION" ;;
    node_exporter)
      version=$(module_version node_exporter github.com/prometheus/node_exporter)
      echo "-X github.com/prometheus/common/version.Version=${version#v}"
      ;;
  esac
}

# The module version v0.315.0 is release 3.15.0.
PROMETHEUS_VERSION=3.15.0

# A module's version as pinned in a family's go.mod.
module_version() { # family module
  awk -v m="$2" '$1 == m {print $2; exit}' "$MODULES/$1/go.mod"
}
