import type { KubeObject } from '../../runtime/client/resource.ts';
import { isOwnedBy } from '../../runtime/objectSet/owner.ts';
import type { Owner } from '../../runtime/objectSet/owner.ts';

/** Field manager of everything that this controller writes. */
export const FIELD_MANAGER = 'traffic-operator-measurement';

/** On Prometheus' pod: what its target files say. A change makes the kubelet look at the pod's volumes at once. */
export const TARGETS_HASH_ANNOTATION = 'traffic.example.com/targets-hash';

/** On Prometheus' pod template: what its configuration says. A change rolls the Deployment. */
export const CONFIG_HASH_ANNOTATION = 'traffic.example.com/config-hash';

/** `app.kubernetes.io/part-of` of everything that belongs to the operator, the chart's objects included. */
export const PART_OF = 'traffic-operator';

const OPERATOR = 'traffic-operator';
const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** What marks the objects that this controller makes. */
export const OWNER: Owner = { labels: { [MANAGED_BY]: OPERATOR } };

export const EXPORTER_NAME = 'node-exporter';
export const PROMETHEUS_NAME = 'prometheus';
export const CONFIG_NAME = 'prometheus-config';
export const CLAIM_NAME = 'prometheus';
export const TARGETS_NAME = 'prometheus-targets';

/**
 * How many ConfigMaps the targets may take. One holds about 9,000 nodes, and the API server takes no larger one; what
 * two do not hold is more than the 5,000 nodes that Kubernetes supports, with room for any length of names.
 */
export const TARGET_SHARDS = 2;

/** The exporter's namespace, which is not the operator's: hostNetwork breaks even the baseline Pod Security level. */
export function exporterNamespace(namespace: string): string {
  return `${namespace}-node-exporter`;
}

/** The ConfigMap of the targets' part `index`, from 0: prometheus-targets, prometheus-targets-2. */
export function targetsName(index: number): string {
  return index === 0 ? TARGETS_NAME : `${TARGETS_NAME}-${index + 1}`;
}

/** The one key of that ConfigMap, a file beside the other parts': targets.json, targets-2.json. */
export function targetsFile(index: number): string {
  return index === 0 ? 'targets.json' : `targets-${index + 1}.json`;
}

/** All of these, as Prometheus' file_sd takes them: no more than one star. */
export const TARGET_FILES = 'targets*.json';

/** The operator's own pods, in the ConfigMap of the first part. */
export const OPERATOR_FILE = 'operator.json';

/** Name of the port of /metrics in the operator's Service. */
export const OPERATOR_METRICS_PORT = 'metrics';

/** The `job` of the operator's own metrics. */
export const OPERATOR_JOB = 'traffic-operator';

/** What tells one component's pods from all others, in kube-prometheus' labels. */
export function selectorLabels(name: string, component: string, namespace: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/instance': namespace,
    'app.kubernetes.io/part-of': PART_OF,
  };
}

/** Labels of an object. The version is the image's tag, where that is one. */
export function objectLabels(selector: Record<string, string>, image?: string): Record<string, string> {
  const version = image === undefined ? undefined : versionOf(image);
  return {
    ...selector,
    [MANAGED_BY]: OPERATOR,
    ...(version === undefined ? {} : { 'app.kubernetes.io/version': version }),
  };
}

/** The labels as the API takes them to select by. */
export function selectorText(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/**
 * Whether this controller made the object. A Deployment that the operator made for a TrafficWatch has the same label, but
 * the TrafficWatch controls it.
 */
export function isOurs(object: KubeObject): boolean {
  return isOwnedBy(OWNER, object);
}

/** 'v1.12.1' of 'quay.io/prometheus/node-exporter:v1.12.1@sha256:...' as '1.12.1'; nothing when there is no tag. */
function versionOf(image: string): string | undefined {
  const tag = /:([A-Za-z0-9_][\w.-]{0,62})(@.*)?$/.exec(image.slice(image.lastIndexOf('/') + 1))?.[1];
  // A tag may end in a character that a label value may not.
  return tag?.replace(/^v(?=\d)/, '').replace(/[^A-Za-z0-9]+$/, '');
}
