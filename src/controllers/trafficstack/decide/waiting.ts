import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, WaitingOn } from '../../../api/trafficstack/trafficStack.ts';
import { IN_PROGRESS_REASONS } from '../../../api/trafficweight/reasons.ts';
import { NO_NODE, NOT_READY } from './podProblem.ts';

/** A component that others may wait for. */
export interface Blocker {
  readonly status: ComponentStatus;
  /** The workload or TrafficWeight, such as `StatefulSet shop/db`. */
  readonly what: string;
  /** The dependencies of the component. */
  readonly dependsOn?: readonly string[] | undefined;
}

/** The state of a component that waits. */
export type Waiting = Pick<ComponentStatus, 'state' | 'reason' | 'message' | 'blockedBy' | 'waitingOn'>;

/** Reasons of components that start normally. */
const STARTING: ReadonlySet<string> = new Set([
  ...[Reason.Applying, Reason.RollingOut, Reason.StatusMissing, Reason.NotReadyYet, Reason.WaitingForRemoval],
  Reason.WaitingForWave,
  ...[NOT_READY, NO_NODE],
  ...IN_PROGRESS_REASONS,
]);

/**
 * Returns the state of a component that waits for dependencies. Undefined if all are ready. `waitingOn` is the root of the chain: the first component
 * that does not wait and whose own dependencies are ready. A running component may be broken because of a dependency. A failed root comes first,
 * since it needs people; then a root with a problem, such as ImagePullBackOff; then roots that may only need time.
 *
 * @param before all components that come before it, as decided already, by name
 */
export function waitFor(dependsOn: readonly string[], before: ReadonlyMap<string, Blocker>): Waiting | undefined {
  const blocking = unreadyOf(dependsOn, before);
  const root = firstRoot(blocking, { before, known: new Map() });
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

interface Root {
  readonly waitingOn: WaitingOn;
  /** 0: failed. 1: a problem keeps it from becoming ready. 2: it may only need time. */
  readonly rank: number;
}

interface Chain {
  readonly before: ReadonlyMap<string, Blocker>;
  /** The known roots by component: several paths may lead to one. */
  readonly known: Map<string, Root>;
}

function unreadyOf(names: readonly string[], before: ReadonlyMap<string, Blocker>): readonly Blocker[] {
  return names.flatMap((name) => before.get(name) ?? []).filter(({ status }) => status.state !== 'Ready');
}

function firstRoot(blocking: readonly Blocker[], chain: Chain): Root | undefined {
  return blocking.map((blocker) => rootOf(blocker, chain)).sort(byUrgency)[0];
}

function rootOf(blocker: Blocker, chain: Chain): Root {
  const { name } = blocker.status;
  const root = chain.known.get(name) ?? findRoot(blocker, chain);
  chain.known.set(name, root);
  return root;
}

function findRoot({ status, what, dependsOn = [] }: Blocker, chain: Chain): Root {
  const { name, state, reason, message, since, waitingOn } = status;
  const { before } = chain;
  if (waitingOn !== undefined) return { waitingOn, rank: rankOf(before.get(waitingOn.component)?.status ?? status) };
  // Whatever it depends on, that an object is in its way has another cause.
  const needs = reason === Reason.ForeignObject ? [] : unreadyOf(dependsOn, before);
  const root = firstRoot(needs, chain);
  return (
    root ?? { waitingOn: { component: name, what, observed: `${state}: ${message}`, since }, rank: rankOf(status) }
  );
}

function rankOf({ state, reason }: ComponentStatus): number {
  if (state === 'Failed') return 0;
  return state === 'Degraded' || !STARTING.has(reason) ? 1 : 2;
}

/** Sorts by rank, then by the age of the state. */
function byUrgency(a: Root, b: Root): number {
  return a.rank - b.rank || Date.parse(a.waitingOn.since) - Date.parse(b.waitingOn.since);
}
