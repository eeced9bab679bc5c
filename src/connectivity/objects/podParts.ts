import type { V1PodSecurityContext, V1SecurityContext } from '@kubernetes/client-node';

/** The user of the program's image. */
const USER = 65_532;

/** Of a pod, at the restricted Pod Security level. */
export const RESTRICTED_POD: V1PodSecurityContext = {
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Of a container, at the restricted Pod Security level, with nothing writable. */
export const RESTRICTED_CONTAINER: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};
