import type { KubeObject } from '../../runtime/client/resource.ts';
import { isOwnedBy } from '../../runtime/objectSet/objectSet.ts';
import { MANAGED_BY, OPERATOR, OWNER, PART_OF } from '../contract/labels.ts';

/** The field manager of this controller. */
export const FIELD_MANAGER = 'traffic-operator-measurement';

/** Annotation on Prometheus' pod template: a hash of its configuration. A change recreates the pod. */
export const CONFIG_HASH_ANNOTATION = 'traffic.example.com/config-hash';

export const EXPORTER_NAME = 'node-exporter';
export const PROMETHEUS_NAME = 'prometheus';
export const CONFIG_NAME = 'prometheus-config';
export const CLAIM_NAME = 'prometheus';

/** ConfigMaps of targets that are written together. */
export interface TargetSet {
  /** Name of the first ConfigMap. */
  readonly name: string;
  /** Name of the first file, without its ending. */
  readonly file: string;
  /** Annotation on Prometheus' pod: a hash of the files. A change makes the kubelet sync the volumes at once. */
  readonly annotation: string;
}

/** The node-exporters of the nodes, and the operator's own pods. */
export const NODE_TARGETS: TargetSet = {
  name: 'prometheus-targets',
  file: 'targets',
  annotation: 'traffic.example.com/targets-hash',
};

/** The agents of the connectivity check. */
export const AGENT_TARGETS: TargetSet = {
  name: 'prometheus-agent-targets',
  file: 'agents',
  annotation: 'traffic.example.com/agent-targets-hash',
};

/**
 * Maximum number of ConfigMaps in a set. One ConfigMap of the maximum size holds the exporters of about 9,000 nodes, or the
 * agents of about 8,000. Two hold the 5,000 nodes that Kubernetes supports, however long their names are.
 */
export const TARGET_SHARDS = 2;

/** The namespace of node-exporter. Separate, because hostNetwork violates even the Pod Security level baseline. */
export function exporterNamespace(namespace: string): string {
  return `${namespace}-node-exporter`;
}

/** The ConfigMap for part `index` of the targets, from 0: prometheus-targets, prometheus-targets-2. */
export function targetsName(index: number, { name } = NODE_TARGETS): string {
  return index === 0 ? name : `${name}-${index + 1}`;
}

/** The key for the targets in that ConfigMap, and the name of their file: targets.json, targets-2.json. */
export function targetsFile(index: number, { file } = NODE_TARGETS): string {
  return index === 0 ? `${file}.json` : `${file}-${index + 1}.json`;
}

/** All these files as a pattern for Prometheus' file_sd, which allows only one star: targets*.json. */
export function targetFiles({ file }: TargetSet): string {
  return `${file}*.json`;
}

/** The file with the operator's own pods, in the ConfigMap of part 0. */
export const OPERATOR_FILE = 'operator.json';

/** Name of the port of /metrics in the operator's Service. */
export const OPERATOR_METRICS_PORT = 'metrics';

/** The `job` of the operator's own metrics. */
export const OPERATOR_JOB = 'traffic-operator';

/** The `job` of the metrics of the pods for DNS weights: they must not count as replicas of the manager. */
export const WEIGHTS_JOB = 'traffic-operator-weights';

/** The `job` of the metrics of the placement webhook's pods, for the same reason. */
export const PLACEMENT_JOB = 'traffic-operator-placement';

/** The labels that select the pods of a component, named as in kube-prometheus. */
export function selectorLabels(name: string, component: string, namespace: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/instance': namespace,
    'app.kubernetes.io/part-of': PART_OF,
  };
}

/** The labels of an object. The version is the tag of the image, if it has one. */
export function objectLabels(selector: Record<string, string>, image?: string): Record<string, string> {
  const version = image === undefined ? undefined : versionOf(image);
  return {
    ...selector,
    [MANAGED_BY]: OPERATOR,
    ...(version === undefined ? {} : { 'app.kubernetes.io/version': version }),
  };
}

/**
 * Whether this controller created the object. A Deployment of a TrafficWatch has the same label, but also a
 * TrafficWatch as its controller.
 */
export function isOurs(object: KubeObject): boolean {
  return isOwnedBy(OWNER, object);
}

/** '1.12.1' for 'quay.io/prometheus/node-exporter:v1.12.1@sha256:...'; undefined without a tag. */
function versionOf(image: string): string | undefined {
  const tag = /:([A-Za-z0-9_][\w.-]{0,62})(@.*)?$/.exec(image.slice(image.lastIndexOf('/') + 1))?.[1];
  // A tag may end in a character with which a label value must not end.
  return tag?.replace(/^v(?=\d)/, '').replace(/[^A-Za-z0-9]+$/, '');
}
