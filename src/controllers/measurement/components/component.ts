import type {
  V1LocalObjectReference,
  V1ObjectMeta,
  V1PodSecurityContext,
  V1SecurityContext,
} from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Member } from '../../../runtime/objectSet/member.ts';

/** One object that the operator measures with. */
export interface Component<T extends KubeObject = KubeObject> extends Member<ComponentGroup, T> {
  readonly group: ComponentGroup;
}

/** What is switched on and off as a whole. */
export type ComponentGroup = 'exporter' | 'prometheus';

/** Name, namespace and labels; every object has them. */
export interface Meta extends V1ObjectMeta {
  name: string;
  labels: Record<string, string>;
}

/**
 * The default of an image with a tag, said all the same: the API server writes Always down where an image without a tag
 * was put in by somebody, and a field that we do not name would stay so when the image is put right.
 */
export const IMAGE_PULL_POLICY = 'IfNotPresent';

/** The part of a pod's spec that says what its images are pulled with; nothing where no Secret is named. */
export function pullSecrets(names: readonly string[]): { imagePullSecrets?: V1LocalObjectReference[] } {
  return names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) };
}

/** nobody: the user that both images run as. */
const NOBODY = 65534;

/** Of a pod, at the restricted Pod Security level. */
export const RESTRICTED_POD = {
  runAsNonRoot: true,
  runAsUser: NOBODY,
  runAsGroup: NOBODY,
  seccompProfile: { type: 'RuntimeDefault' },
} satisfies V1PodSecurityContext;

/** Of a container, at the restricted Pod Security level, with nothing writable. */
export const RESTRICTED_CONTAINER: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};
