import type { ComponentSpec, HighAvailabilitySpec } from '../../../api/trafficstack/trafficStack.ts';

/** Counts the nodes that have all of these labels. */
export type CountNodes = (nodeSelector: Readonly<Record<string, string>>) => number;

/** What a component has of the stack's high availability; undefined if it is not for it: a DaemonSet is on each node anyway. */
export function availabilityOf(
  { workload, highAvailability = true }: ComponentSpec,
  ofStack: HighAvailabilitySpec | undefined,
): HighAvailabilitySpec | undefined {
  return highAvailability && workload.kind !== 'DaemonSet' ? ofStack : undefined;
}

/** How many pods there should be; undefined if the stack does not say. */
export function replicasOf(
  { workload }: ComponentSpec,
  availability: HighAvailabilitySpec | undefined,
  countNodes: CountNodes,
): number | undefined {
  if (workload.replicas !== undefined || availability === undefined) return workload.replicas;
  return availability.replicas ?? countNodes(availability.nodeSelector ?? {});
}
