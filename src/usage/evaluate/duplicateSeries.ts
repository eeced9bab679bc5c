import type { NodeSamples } from '../series/nodeSamples.ts';

/** Labels that identify a series of a device. They can not tell replicas apart. */
export const IDENTIFYING_LABELS: readonly string[] = ['__name__', 'node', 'instance', 'device', 'driver'];

/**
 * Explains that a device has several series, with the labels in which they differ and what to set. Undefined if each
 * device has one.
 *
 * | The series differ in                     | What to set                                     |
 * |------------------------------------------|-------------------------------------------------|
 * | labels that can tell replicas apart      | --prometheus-replica-label for each, or matcher |
 * | labels that identify a device, or unknown | a matcher                                       |
 */
export function describeDuplicate({ duplicate, differing }: Pick<NodeSamples, 'duplicate' | 'differing'>) {
  if (duplicate === undefined) return undefined;
  const names = differing.filter((name) => !IDENTIFYING_LABELS.includes(name));
  return `several series of one device: ${duplicate}; ${names.length === 0 ? MATCHER : howToMerge(names)}`;
}

const MATCHER = 'a matcher can tell them apart';

function howToMerge(names: readonly string[]): string {
  const labels = `${names.length === 1 ? 'label' : 'labels'} ${names.join(', ')}`;
  const flags = names.map((name) => `--prometheus-replica-label=${name}`).join(' ');
  return `they differ in the ${labels}: if they are replicas, set ${flags} (chart: prometheus.replicaLabels); otherwise ${MATCHER}`;
}
