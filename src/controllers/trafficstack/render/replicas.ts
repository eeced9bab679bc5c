import type { CommonSpec, HighAvailabilitySpec, WorkloadComponent } from '../../../api/trafficstack/trafficStack.ts';

/** Counts the nodes that have all of these labels. */
export type CountNodes = (nodeSelector: Readonly<Record<string, string>>) => number;

/**
 * What a component has of the stack's high availability. Undefined if it is not for it: a DaemonSet is on each node anyway, and what is
 * somebody else's is as it is.
 */
export function availabilityOf(
  { workload, mode, highAvailability = true }: WorkloadComponent,
  ofStack: HighAvailabilitySpec | undefined,
): HighAvailabilitySpec | undefined {
  return highAvailability && workload.kind !== 'DaemonSet' && mode !== 'External' ? ofStack : undefined;
}

/** The nodes that the pods of a component may run on: what its template says takes precedence. */
export function nodeSelectorOf(
  { workload }: WorkloadComponent,
  common: CommonSpec,
  availability: HighAvailabilitySpec | undefined,
): Record<string, string> {
  return { ...common.nodeSelector, ...availability?.nodeSelector, ...workload.podTemplate?.spec?.nodeSelector };
}

/** How many pods there should be; undefined if the stack does not say. */
export function replicasOf(
  { workload }: WorkloadComponent,
  availability: HighAvailabilitySpec | undefined,
  countNodes: () => number,
): number | undefined {
  if (workload.replicas !== undefined || availability === undefined) return workload.replicas;
  return availability.replicas ?? countNodes();
}
