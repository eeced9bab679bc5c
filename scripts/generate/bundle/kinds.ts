import type { Manifest } from '../../chart/helm.ts';

/** Kinds that OLM creates from the ClusterServiceVersion. */
const OF_CSV = ['Deployment', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

/**
 * Kinds of the chart that OLM creates from the manifests of a bundle. Of other kinds it refuses the whole bundle. All
 * kinds: pkg/lib/bundle/supported_resources.go of operator-registry.
 */
const SUPPORTED = ['Service', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor', 'PrometheusRule', 'ConfigMap'];

/** True for an object that is a manifest of the bundle. */
export function isOfBundle({ kind }: Manifest): boolean {
  return SUPPORTED.includes(kind);
}

/** True for an object that OLM can not create: it is in deploy/olm. */
export function isUnsupported({ kind }: Manifest): boolean {
  return !OF_CSV.includes(kind) && !SUPPORTED.includes(kind);
}
