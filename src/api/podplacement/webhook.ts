import type { V1MutatingWebhook } from '@kubernetes/client-node';
import { GROUP } from '../group.ts';

/** The name of the webhook that adds the node affinity to pods, in whichever configuration it is. */
export const PLACEMENT_WEBHOOK = `pods.placement.${GROUP}`;

/** Every namespace has it, and nobody can change it. */
export const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

/** The namespace whose pods the webhook never gets, besides the namespace of its own pods. */
export const SYSTEM_NAMESPACE = 'kube-system';

/** Whether the API server sends the pods of a namespace to the webhook. */
export function hasNamespace({ namespaceSelector }: V1MutatingWebhook, namespace: string): boolean {
  const expressions = namespaceSelector?.matchExpressions ?? [];
  return expressions.some(({ key, values }) => key === NAMESPACE_NAME_LABEL && values?.includes(namespace));
}
