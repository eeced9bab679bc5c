import { ComponentReason, StackEvent, StackReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import type { PlannedEvent } from '../../../runtime/controller/conditions.ts';

/** The last decided status of a component, before and after a reconcile. */
interface Transition {
  /** Undefined: there is no earlier decision. */
  readonly before: ComponentStatus | undefined;
  readonly after: ComponentStatus;
}

/** Reasons of components that wait for another owner to create or correct an object. */
export const EXTERNAL_REASONS: ReadonlySet<string> = new Set([
  ComponentReason.ExternalMissing,
  ComponentReason.ExternalUnusable,
]);

/**
 * Returns the Events that name components. The conditions of a stack name only one component.
 *
 * | a component, before -> after                                    | Event                          |
 * |-----------------------------------------------------------------|--------------------------------|
 * | anything else -> Failed                                         | Warning, ComponentFailed       |
 * | no rollback, or of another revision -> a rollback has begun     | Warning, ComponentRollingBack  |
 * | anything else -> Failed (RolledBack)                            | Normal, ComponentRolledBack    |
 * | anything else -> Degraded                                       | Warning, ComponentDegraded     |
 * | Failed, Degraded -> Ready                                       | Normal, ComponentRecovered     |
 * | not Ready, and not ready with this revision yet -> Ready        | Normal, ComponentReady         |
 * | not Ready, and ready with this revision since it was applied, as while an autoscaler adds pods -> Ready | none |
 * | anything else, or Waiting for another reason -> Waiting         | Normal, ComponentWaiting       |
 * | anything else -> Progressing, since another owner must create or correct what it uses | Normal, ComponentWaiting |
 * | none, Waiting, Failed, Removing or another revision -> Progressing | Normal, ComponentStarted    |
 * | any, with the same revision -> Progressing (Applying), since its workload is gone | Normal, ComponentStarted |
 * | anything else -> Progressing, as while an autoscaler adds pods, or the number of nodes changes | none |
 * | any -> Progressing, and the operator does not write it          | none                           |
 * | any -> Unknown, Removing                                        | none                           |
 * | another message, figures or time alone                          | none                           |
 *
 * While nothing is decided, the last decided state counts. Only stored statuses are compared, so that no Event is repeated
 * after a restart of the operator.
 */
export function componentEvents(
  before: readonly ComponentStatus[] = [],
  after: readonly ComponentStatus[] = [],
): PlannedEvent[] {
  const known = new Map(before.map((status) => [status.name, asDecided(status)]));
  return after.flatMap((status) => eventsOf({ before: known.get(status.name), after: asDecided(status) }));
}

function asDecided({ lastDecided, ...status }: ComponentStatus): ComponentStatus {
  return { ...status, ...lastDecided };
}

function eventsOf(way: Transition): PlannedEvent[] {
  switch (way.after.state) {
    case 'Failed':
      return [...faultOf(way, StackReason.ComponentFailed), ...rollbackOf(way)];
    case 'Degraded':
      return faultOf(way, StackReason.ComponentDegraded);
    case 'Ready':
      return readyOf(way);
    case 'Waiting':
      return isAsBefore(way) ? [] : [normal(StackEvent.ComponentWaiting, way.after)];
    case 'Progressing':
      return progressOf(way);
    case 'Unknown':
    case 'Removing':
      return [];
  }
}

function faultOf({ before, after }: Transition, reason: StackReason): PlannedEvent[] {
  return before?.state === after.state ? [] : [{ type: 'Warning', reason, note: noteOf(after) }];
}

/** Failed has messages about the progress of a rollback. */
function rollbackOf({ before, after }: Transition): PlannedEvent[] {
  const { name, reason, rolledBackFrom, message } = after;
  if (rolledBackFrom === undefined) return [];
  if (reason === ComponentReason.RolledBack) {
    if (before?.reason === reason) return [];
    return [{ type: 'Normal', reason: StackEvent.ComponentRolledBack, note: `${name}: ${message}` }];
  }
  const isKnown = before?.rolledBackFrom?.revision === rolledBackFrom.revision;
  if (reason !== ComponentReason.RollingBack || isKnown) return [];
  const { revision, version } = rolledBackFrom;
  const what = version === undefined ? revision : `${revision} (${version})`;
  const note = `${name} gets its last ready revision back instead of the revision ${what}, which has failed`;
  return [{ type: 'Warning', reason: StackEvent.ComponentRollingBack, note }];
}

function readyOf({ before, after }: Transition): PlannedEvent[] {
  if (before?.state === 'Ready') return [];
  if (before?.state === 'Failed' || before?.state === 'Degraded') {
    const note = `${after.name} is Ready again: ${after.message}`;
    return [{ type: 'Normal', reason: StackEvent.ComponentRecovered, note }];
  }
  const wasReady = before?.readyRevision !== undefined && before.readyRevision === after.revision;
  return wasReady ? [] : [normal(StackEvent.ComponentReady, after)];
}

function progressOf(way: Transition): PlannedEvent[] {
  const { before, after } = way;
  if (EXTERNAL_REASONS.has(after.reason)) {
    const wasSo = before?.state === after.state && EXTERNAL_REASONS.has(before.reason);
    return wasSo ? [] : [normal(StackEvent.ComponentWaiting, after)];
  }
  if (after.mode === 'External') return [];
  return isStarted(way) || isRecreated(way) ? [normal(StackEvent.ComponentStarted, after)] : [];
}

/** States of a component without applied objects, or without applied objects of this attempt. */
const NOT_STARTED: ReadonlySet<string> = new Set(['Waiting', 'Failed', 'Removing']);

function isStarted({ before, after }: Transition): boolean {
  return before === undefined || NOT_STARTED.has(before.state) || before.revision !== after.revision;
}

/** Returns whether the workload was deleted: only an existing one has figures. A failed write has begun. */
function isRecreated({ before, after }: Transition): boolean {
  const { Applying, WriteFailed } = ComponentReason;
  const isGoingOn = before?.reason === Applying || before?.reason === WriteFailed;
  return after.reason === Applying && after.replicas === undefined && !isGoingOn;
}

function isAsBefore({ before, after }: Transition): boolean {
  return before?.state === after.state && before.reason === after.reason;
}

function normal(reason: string, status: ComponentStatus): PlannedEvent {
  return { type: 'Normal', reason, note: noteOf(status) };
}

function noteOf({ name, state, message }: ComponentStatus): string {
  return `${name} is ${state}: ${message}`;
}
