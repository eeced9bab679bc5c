import type {
  V1EnvVar,
  V1LocalObjectReference,
  V1PodSecurityContext,
  V1SecurityContext,
} from '@kubernetes/client-node';
import type { ConnectivityOptions, PodSize } from './names.ts';

/** The user of the program's image. */
const USER = 65_532;

/**
 * Returns the security context of a pod at the restricted Pod Security level. On OpenShift it has no IDs: the SCCs assign
 * a user of the namespace's range, and refuse any other.
 */
export function restrictedPod({ openshift }: ConnectivityOptions): V1PodSecurityContext {
  const ids = openshift ? {} : { runAsUser: USER, runAsGroup: USER };
  return { runAsNonRoot: true, ...ids, seccompProfile: { type: 'RuntimeDefault' } };
}

/** The security context of a container at the restricted Pod Security level. The container can write no file. */
export const RESTRICTED_CONTAINER: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** The variables by which a program knows its pod and its node. The original uses the same names. */
export function ownNames(): V1EnvVar[] {
  return [
    { name: 'MY_POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'MY_NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ];
}

/** The field imagePullSecrets of a pod spec; no field without secrets. */
export function pullSecrets({ imagePullSecrets }: ConnectivityOptions): {
  imagePullSecrets?: V1LocalObjectReference[];
} {
  return imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) };
}

/** The field priorityClassName of a pod spec; no field without a class. */
export function priorityOf({ priorityClassName }: PodSize): { priorityClassName?: string } {
  return priorityClassName === '' ? {} : { priorityClassName };
}
