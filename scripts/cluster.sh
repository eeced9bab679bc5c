#!/usr/bin/env bash
# Installs the operator into the cluster of the current kubeconfig, and removes it. `make` calls it.
#   cluster.sh install          the CRDs
#   cluster.sh deploy           the operator with stacks and weights, as deploy/ has it, and the placement policy if the cluster serves it
#   cluster.sh undeploy         removes the operator and everything that it has made; the CRDs stay
#   cluster.sh uninstall        removes the CRDs, and so every object of their kinds. First delete your TrafficStacks:
#                               otherwise Kubernetes deletes the workloads of all stacks, in no order
#   cluster.sh olm-install      the Operator Lifecycle Manager itself
#   cluster.sh olm-deploy       the operator by OLM: catalog, OperatorGroup, Subscription
#   cluster.sh olm-undeploy     removes that, and everything that the operator has made; the CRDs stay
# IMG: image of the operator. CATALOG_IMG: image of the catalog. NAMESPACE: of the operator. KUBECTL: another kubectl.
# OLM_RELEASE: folder or URL with crds.yaml and olm.yaml of a release of OLM.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DEPLOY=$ROOT/deploy
DEFAULT_NAMESPACE=traffic-operator-system
NAMESPACE=${NAMESPACE:-$DEFAULT_NAMESPACE}
NAME=traffic-operator
KUBECTL=${KUBECTL:-kubectl}
OLM_RELEASE=${OLM_RELEASE:-https://github.com/operator-framework/operator-lifecycle-manager/releases/download/v0.40.0}
CLEANUP=traffic-operator-cleanup
TIMEOUT=${TIMEOUT:-5m}

say() { printf '%s\n' "$*" >&2; }

# The objects of a folder of deploy/, with the images of IMG and CATALOG_IMG. Names that begin with the namespace, such as
# the name of the namespace of node-exporter, change with it.
manifests() { # folder
  kustomized "$1" | sed -E "
    s#(image: )$NAME:.*#\1${IMG:-$NAME:$(version)}#
    s#(image: )$NAME-catalog:.*#\1${CATALOG_IMG:-$NAME-catalog:$(version)}#
    s#$DEFAULT_NAMESPACE#$NAMESPACE#g"
}

# On OpenShift with the component deploy/openshift. A kustomization names others by relative paths alone.
kustomized() { # folder
  if ! is_openshift; then
    "$KUBECTL" kustomize "$DEPLOY/$1"
    return
  fi
  mkdir -p "$ROOT/dist"
  local overlay result=0
  overlay=$(mktemp -d "$ROOT/dist/openshift.XXXXXX")
  printf 'resources: [../../deploy/%s]\ncomponents: [../../deploy/openshift]\n' "$1" >"$overlay/kustomization.yaml"
  "$KUBECTL" kustomize "$overlay" || result=$?
  rm -r "$overlay"
  return "$result"
}

version() { sed -nE 's/^  "version": "(.*)",$/\1/p' "$ROOT/package.json"; }

apply() { manifests "$1" | "$KUBECTL" apply --server-side --force-conflicts -f -; }

delete() { manifests "$1" | "$KUBECTL" delete --ignore-not-found --timeout="$TIMEOUT" -f -; }

# Kubernetes 1.36 and newer.
serves_placement() {
  "$KUBECTL" get --raw /apis/admissionregistration.k8s.io/v1 | grep -q '"MutatingAdmissionPolicy"'
}

# Removes labels, finalizers and everything that the operator has deployed. It works with and without the operator.
cleanup() {
  "$KUBECTL" -n "$CLEANUP" delete "job/$CLEANUP" --ignore-not-found
  apply cleanup
  "$KUBECTL" -n "$CLEANUP" wait --for=condition=complete --timeout="$TIMEOUT" "job/$CLEANUP"
  delete cleanup
}

# Waits until the CRDs of its standard input are served. `kubectl wait` fails at once on a CRD that has no conditions yet, see
# https://github.com/kubernetes/kubernetes/issues/66439.
await_crds() {
  local crds output
  crds=$(cat)
  until output=$("$KUBECTL" wait --for=condition=Established --timeout="$TIMEOUT" -f - <<<"$crds" 2>&1); do
    if [[ $output != *'.status.conditions accessor error'* ]]; then
      say "$output"
      return 1
    fi
    sleep 0.2
  done
  printf '%s\n' "$output"
}

install_crds() {
  apply crds
  manifests crds | await_crds
}

uninstall_crds() {
  delete crds
  if ! is_installed operators.operators.coreos.com; then return; fi
  # OLM's summary of the operator. OLM creates it again as long as it finds a CRD of the operator.
  "$KUBECTL" delete "operators.operators.coreos.com/$NAME.$NAMESPACE" --ignore-not-found
}

# Whether the cluster has a CRD.
is_installed() { [[ -n $("$KUBECTL" get "crd/$1" --ignore-not-found -o name) ]]; }

is_openshift() { is_installed securitycontextconstraints.security.openshift.io; }

deploy() {
  if is_openshift; then apply openshift/constraints; fi
  apply .
  if serves_placement; then apply placement; fi
}

undeploy() {
  cleanup
  delete .
  if serves_placement; then delete placement; fi
  if is_openshift; then delete openshift/constraints; fi
}

olm_install() {
  if is_installed clusterserviceversions.operators.coreos.com; then
    say 'OLM is installed already'
    return
  fi
  # The CRDs are too large for the annotation of a client-side apply.
  "$KUBECTL" apply --server-side -f "$OLM_RELEASE/crds.yaml"
  "$KUBECTL" get -f "$OLM_RELEASE/crds.yaml" -o yaml | await_crds
  "$KUBECTL" apply --server-side -f "$OLM_RELEASE/olm.yaml"
  local deployment
  for deployment in olm-operator catalog-operator; do
    "$KUBECTL" -n olm rollout status --timeout="$TIMEOUT" "deployment/$deployment"
  done
  # The package server, as OLM's own install.sh does: while its API does not answer, no namespace ends.
  "$KUBECTL" -n olm wait --for=jsonpath='{.status.phase}'=Succeeded --timeout="$TIMEOUT" csv/packageserver
  "$KUBECTL" -n olm rollout status --timeout="$TIMEOUT" deployment/packageserver
}

olm_deploy() {
  if ! is_installed subscriptions.operators.coreos.com; then
    say 'OLM is not installed: make olm-install'
    return 1
  fi
  if is_openshift; then apply openshift/constraints; fi
  apply olm
  if is_openshift; then name_openshift; fi
  "$KUBECTL" -n "$NAMESPACE" wait --for=jsonpath='{.status.installedCSV}' --timeout="$TIMEOUT" "subscription/$NAME"
  local csv
  csv=$("$KUBECTL" -n "$NAMESPACE" get "subscription/$NAME" -o jsonpath='{.status.installedCSV}')
  "$KUBECTL" -n "$NAMESPACE" wait --for=jsonpath='{.status.phase}'=Succeeded --timeout="$TIMEOUT" "csv/$csv"
}

# A Subscription with variables of its own is unchanged. OpenShift's own node-exporter has port 9100; the port is
# the one of deploy/openshift.
name_openshift() {
  local variables
  variables=$("$KUBECTL" -n "$NAMESPACE" get "subscription/$NAME" -o jsonpath='{.spec.config.env}')
  if [[ -n $variables ]]; then return; fi
  "$KUBECTL" -n "$NAMESPACE" patch "subscription/$NAME" --type=merge \
    -p '{"spec":{"config":{"env":[
      {"name":"TRAFFIC_OPERATOR_OPENSHIFT","value":"true"},
      {"name":"TRAFFIC_OPERATOR_NODE_EXPORTER_PORT","value":"9890"}]}}}'
}

# First the Subscription, which would install the ClusterServiceVersion again. The operator must not run during the
# clean-up: OLM would start it again.
olm_undeploy() {
  local csv
  "$KUBECTL" -n "$NAMESPACE" delete "subscription/$NAME" --ignore-not-found
  # There are two during an upgrade, and none is installed after a failure.
  for csv in $("$KUBECTL" -n "$NAMESPACE" get csv -o name | grep "/$NAME\.v"); do
    "$KUBECTL" -n "$NAMESPACE" delete "$csv" --ignore-not-found --timeout="$TIMEOUT"
  done
  cleanup
  delete olm
  if serves_placement; then delete placement; fi
  if is_openshift; then delete openshift/constraints; fi
}

case ${1:-} in
  install) install_crds ;;
  deploy) deploy ;;
  undeploy) undeploy ;;
  uninstall) uninstall_crds ;;
  olm-install) olm_install ;;
  olm-deploy) olm_deploy ;;
  olm-undeploy) olm_undeploy ;;
  *)
    sed -n '2,13p' "$0" >&2
    exit 2
    ;;
esac
