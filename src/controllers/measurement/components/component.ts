import type {
  V1LocalObjectReference,
  V1ObjectMeta,
  V1PodSecurityContext,
  V1SecurityContext,
} from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Member } from '../../../runtime/objectSet/objectSet.ts';

/** One object of node-exporter or Prometheus. */
export interface Component<T extends KubeObject = KubeObject> extends Member<ComponentGroup, T> {
  readonly group: ComponentGroup;
}

/**
 * A group of objects that is enabled or disabled as a whole. A TrafficStack may manage `exporter` and `prometheus` instead of this
 * controller, but never the namespace of the exporter, where others may have pods, nor the claim with the samples.
 */
export type ComponentGroup = 'exporter' | 'exporterNamespace' | 'prometheus' | 'claim';

/** The metadata that every object has. */
export interface Meta extends V1ObjectMeta {
  name: string;
  labels: Record<string, string>;
}

/**
 * The default for an image with a tag, but set explicitly. If a user sets an image without a tag, the API server
 * defaults the policy to Always, and a field that we do not set would stay Always after we restore the image.
 */
export const IMAGE_PULL_POLICY = 'IfNotPresent';

/** The field imagePullSecrets of a pod spec; no field without secrets. */
export function pullSecrets(names: readonly string[]): { imagePullSecrets?: V1LocalObjectReference[] } {
  return names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) };
}

/** nobody: the user that both images run as. */
const NOBODY = 65534;

/**
 * Returns the security context of a pod at the restricted Pod Security level. On OpenShift it has no IDs: SCCs assign a user
 * and an fsGroup in the ranges of the namespace, and refuse any other.
 *
 * @param hasVolume whether the pod writes to a volume: fsGroup makes it writable for the user nobody
 */
export function restrictedPod(openshift: boolean, hasVolume = false): V1PodSecurityContext {
  const user = openshift ? {} : { runAsUser: NOBODY, runAsGroup: NOBODY };
  const group = openshift || !hasVolume ? {} : { fsGroup: NOBODY };
  return { runAsNonRoot: true, ...user, seccompProfile: { type: 'RuntimeDefault' }, ...group };
}

/** The security context of a container at the restricted Pod Security level, with a read-only file system. */
export const RESTRICTED_CONTAINER: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};
