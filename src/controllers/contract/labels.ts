import type { V1Deployment } from '@kubernetes/client-node';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Owner } from '../../runtime/objectSet/objectSet.ts';

/** `app.kubernetes.io/part-of` of all objects of the operator, including the objects of the chart. */
export const PART_OF = 'traffic-operator';

/** The label of everything that a controller deploys. */
export const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const OPERATOR = 'traffic-operator';

/** How a controller that deploys objects recognizes its own. */
export const OWNER: Owner = { labels: { [MANAGED_BY]: OPERATOR } };

/** The labels as a label selector in a request. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/**
 * Returns the selection of the pods of a Deployment, StatefulSet or DaemonSet by its labels. Its selector may also have expressions: the
 * owner of a pod shows which pods these exclude.
 */
export function podsSelectedBy(workload: KubeObject): { readonly namespace?: string; readonly labelSelector: string } {
  const { metadata, spec } = workload as V1Deployment;
  return {
    ...(metadata?.namespace !== undefined && { namespace: metadata.namespace }),
    labelSelector: selectorText(spec?.selector.matchLabels ?? {}),
  };
}
