import type { Owner } from '../../runtime/objectSet/owner.ts';

/** `app.kubernetes.io/part-of` of all objects of the operator, including those of the chart. */
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
