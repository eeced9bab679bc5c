import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Problem } from '../../../runtime/process/problem.ts';
import { KEPT_TYPES } from './keepers.ts';

const TYPES: ReadonlySet<string> = new Set(Object.values(KEPT_TYPES));

/**
 * What keeps the node-exporter and the Prometheus of TrafficStacks from running, as the status of the stacks says: components that have failed,
 * and those that cannot be written. Their Events and metrics are of the stack.
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
