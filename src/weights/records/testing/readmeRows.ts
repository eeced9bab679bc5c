/** One cluster: its weight, the annotation, and the weight in Route 53. */
export type Side = readonly [cluster: number, annotation: string | undefined, weight: number];

/**
 * "Weights in different configurations" in the README of k8s-traffic-controller: both clusters, and the percent of the traffic that each
 * gets. A weight is rounded up to an integer.
 */
export const README_ROWS: readonly (readonly [name: string, a: Side, b: Side, percents: readonly [number, number]])[] =
  [
    ['half-half', [75, '25', 19], [25, '75', 19], [50, 50]],
    ['quarter', [50, '25', 13], [50, '75', 38], [25, 75]],
    ['tenth', [10, '50', 5], [90, '50', 45], [10, 90]],
    ['none', [0, '50', 0], [100, '50', 50], [0, 100]],
    ['all', [5, '100', 5], [95, '0', 0], [100, 0]],
    ['two-thirds', [100, undefined, 100], [100, '50', 50], [66, 33]],
  ];

/**
 * "In these three cases the application won't receive traffic in the cluster" in the same README. The weight does not depend on the health
 * check: Route 53 does not answer with a record whose health check fails.
 */
export const README_WITHOUT_TRAFFIC: readonly (readonly [
  cluster: number,
  healthCheck: 'UP' | 'DOWN',
  annotation: string,
  weight: number,
])[] = [
  [100, 'DOWN', '100', 100],
  [0, 'UP', '100', 0],
  [100, 'UP', '0', 0],
];
