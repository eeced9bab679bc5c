import type { V1Container, V1PodSpec, V1PodTemplateSpec, V1TopologySpreadConstraint } from '@kubernetes/client-node';
import { DEFAULT_TOPOLOGY_KEY, type WorkloadKind } from '../../../api/trafficstack/terms.ts';
import type { CommonSpec, HighAvailabilitySpec } from '../../../api/trafficstack/trafficStack.ts';
import type { Folder } from './folders.ts';

/** What a pod template gets beside what the component says. */
export interface Additions {
  readonly kind: WorkloadKind;
  /** Labels that select the pods. */
  readonly labels: Readonly<Record<string, string>>;
  readonly common: CommonSpec;
  /** That of the pods, with what the component says. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Undefined if it is not for the component. */
  readonly availability: HighAvailabilitySpec | undefined;
  readonly folders: readonly Folder[];
}

/** The pod template of a component. What the component itself says takes precedence. */
export function podTemplateOf(template: V1PodTemplateSpec, additions: Additions): V1PodTemplateSpec {
  const { labels } = additions;
  return {
    ...template,
    metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } },
    ...(template.spec && { spec: podSpecOf(template.spec, additions) }),
  };
}

function podSpecOf(
  spec: V1PodSpec,
  { kind, labels, common, nodeSelector, availability, folders }: Additions,
): V1PodSpec {
  const tolerations = [...(common.tolerations ?? []), ...(spec.tolerations ?? [])];
  const imagePullSecrets = spec.imagePullSecrets ?? common.imagePullSecrets;
  const priorityClassName = spec.priorityClassName ?? common.priorityClassName;
  return {
    ...spec,
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector: { ...nodeSelector } }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(imagePullSecrets && { imagePullSecrets }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(availability && spreadOf(spec, { kind, labels, availability })),
    ...(folders.length > 0 && mounted(spec, folders)),
  };
}

/**
 * Spreads the pods over the values of a label of nodes: no value has more than one pod above any other, and the scheduler prefers
 * nodes without a pod of the component. Nodes with a taint that the pod does not tolerate do not count, so that the pods of a node
 * that is off find room on the others.
 */
function spreadOf(
  { topologySpreadConstraints, affinity }: V1PodSpec,
  { kind, labels, availability }: Pick<Additions, 'kind' | 'labels'> & { readonly availability: HighAvailabilitySpec },
): Pick<V1PodSpec, 'topologySpreadConstraints' | 'affinity'> {
  const topologyKey = availability.topologyKey ?? DEFAULT_TOPOLOGY_KEY;
  const labelSelector = { matchLabels: { ...labels } };
  const constraint: V1TopologySpreadConstraint = {
    ...{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor', labelSelector },
    // Otherwise the old pods of a Deployment would count when new ones replace them.
    ...(kind === 'Deployment' && { matchLabelKeys: ['pod-template-hash'] }),
  };
  const term = { weight: 100, podAffinityTerm: { topologyKey, labelSelector } };
  return {
    topologySpreadConstraints: topologySpreadConstraints ?? [constraint],
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] }, ...affinity },
  };
}

/** The folders in all containers. */
function mounted(spec: V1PodSpec, folders: readonly Folder[]): Partial<V1PodSpec> {
  const mounts = folders.map(({ volume, mountPath }) => ({ name: volume, mountPath, readOnly: true }));
  const withMounts = (container: V1Container): V1Container => ({
    ...container,
    volumeMounts: [...(container.volumeMounts ?? []), ...mounts],
  });
  return {
    volumes: [
      ...(spec.volumes ?? []),
      ...folders.map(({ volume, object }) => ({ name: volume, configMap: { name: object } })),
    ],
    containers: spec.containers.map(withMounts),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(withMounts) }),
  };
}
