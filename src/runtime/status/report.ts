import type { CallOptions } from '../client/client.ts';
import type { EventRecorder } from '../controller/events.ts';
import type { PlannedEvent } from './conditionEvents.ts';
import type { StatusOf, WithStatus } from './keptStatuses.ts';
import type { StatusWriter } from './statusWriter.ts';

/** The means to report the result of a reconcile. */
export interface Reporters<T extends WithStatus> {
  readonly statuses: Pick<StatusWriter<T>, 'write'>;
  readonly events: Pick<EventRecorder, 'event'>;
}

/** The result of a reconcile. */
export interface Report<T extends WithStatus> {
  /** With apiVersion and kind, which the events name. */
  readonly about: T;
  readonly status: StatusOf<T>;
  /** The changes from the previous status to this one. */
  readonly events: readonly PlannedEvent[];
}

/**
 * Ends a reconcile: writes the status, and records the events if the status has changed. Records no events for a status that could
 * not be written: the next reconcile plans the same events again.
 *
 * @throws WaitingError if another client wrote the object meanwhile; ApiError, TransportError
 */
export async function report<T extends WithStatus>(
  { statuses, events }: Reporters<T>,
  { about, status, events: planned }: Report<T>,
  options: CallOptions = {},
): Promise<void> {
  if (!(await statuses.write(about, status, options))) return;
  for (const { type, reason, note } of planned) events.event(about, type, reason, note);
}
