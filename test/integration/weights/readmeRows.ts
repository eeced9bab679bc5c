/** Of a cluster: its weight, the annotation, and the weight in Route 53. */
export type Side = readonly [cluster: number, annotation: string | undefined, weight: number];

/** The tables in the README of k8s-traffic-controller, of both clusters. A weight is rounded up to an integer. */
export const README_ROWS: readonly (readonly [name: string, a: Side, b: Side])[] = [
  ['half-half', [75, '25', 19], [25, '75', 19]],
  ['quarter', [50, '25', 13], [50, '75', 38]],
  ['tenth', [10, '50', 5], [90, '50', 45]],
  ['none', [0, '50', 0], [100, '50', 50]],
  ['all', [5, '100', 5], [95, '0', 0]],
  ['two-thirds', [100, undefined, 100], [100, '50', 50]],
];
