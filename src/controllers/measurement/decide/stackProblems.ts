import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Problem } from '../../../runtime/process/problem.ts';
import { KEPT_TYPES } from '../model/keepers.ts';

const TYPES: ReadonlySet<string> = new Set(Object.values(KEPT_TYPES));

/**
 * Returns the problems of node-exporter and Prometheus in the status of TrafficStacks: components that have failed, and components that
 * cannot be written. The stack has their Events and metrics.
 */
export function stackProblems(stacks: readonly TrafficStack[]): Problem[] {
  return stacks.flatMap(({ metadata, status }) =>
    (status?.components ?? []).filter(isBroken).map(({ name, reason, message }) => ({
      ...{ reason, object: `TrafficStack ${metadata?.name}` },
      message: `component ${name} of TrafficStack ${metadata?.name}: ${message}`,
    })),
  );
}

function isBroken({ type, state, reason }: ComponentStatus): boolean {
  return TYPES.has(type) && (state === 'Failed' || reason === ComponentReason.WriteFailed);
}
