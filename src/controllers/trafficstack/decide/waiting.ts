import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, WaitingOn } from '../../../api/trafficstack/trafficStack.ts';

/** A component that others may wait for. */
export interface Blocker {
  readonly status: ComponentStatus;
  /** Its workload, such as `StatefulSet shop/db`. */
  readonly what: string;
}

/** The state of a component that waits. */
export type Waiting = Pick<ComponentStatus, 'state' | 'reason' | 'message' | 'blockedBy' | 'waitingOn'>;

/**
 * What a component waits for; undefined if all that it depends on is ready. `waitingOn` is the root of a chain: the first
 * component on the way that does not wait itself. Of several, one that has failed comes first: it needs people.
 *
 * @param before the components that it depends on, as decided already, by name
 */
export function waitFor(dependsOn: readonly string[], before: ReadonlyMap<string, Blocker>): Waiting | undefined {
  const blocking = dependsOn.flatMap((name) => before.get(name) ?? []).filter(({ status }) => status.state !== 'Ready');
  const roots = blocking.map(rootOf);
  const root = roots.find(({ hasFailed }) => hasFailed) ?? roots[0];
  if (root === undefined) return undefined;
  const { component, observed } = root.waitingOn;
  return {
    state: 'Waiting',
    reason: Reason.WaitingForDependencies,
    message: `waits for ${component}: ${observed}`,
    blockedBy: blocking.map(({ status }) => status.name),
    waitingOn: root.waitingOn,
  };
}

function rootOf({ status, what }: Blocker): { readonly waitingOn: WaitingOn; readonly hasFailed: boolean } {
  const { name, state, message, since, waitingOn } = status;
  const observed = `${state}: ${message}`;
  const root = waitingOn ?? { component: name, what, observed, since };
  return { waitingOn: root, hasFailed: root.observed.startsWith('Failed: ') };
}
