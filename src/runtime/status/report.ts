import type { CallOptions } from '../client/client.ts';
import type { EventRecorder } from '../controller/events.ts';
import type { PlannedEvent } from './conditionEvents.ts';
import type { StatusOf, WithStatus } from './keptStatuses.ts';
import type { StatusWriter } from './statusWriter.ts';

/** What a reconcile reports with. */
export interface Reporters<T extends WithStatus> {
  readonly statuses: Pick<StatusWriter<T>, 'write'>;
  readonly events: Pick<EventRecorder, 'event'>;
}

/** How a reconcile went. */
export interface Report<T extends WithStatus> {
  /** With apiVersion and kind, which the events name. */
  readonly about: T;
  readonly status: StatusOf<T>;
  /** The way from the status before to this one. */
  readonly events: readonly PlannedEvent[];
}

/**
 * Ends a reconcile: writes the status, and records the events when the status has changed. A status that could not be
 * written is reported by none: the next reconcile plans the same events again.
 *
 * @throws WaitingError when somebody else wrote the object meanwhile; ApiError, TransportError
 */
export async function report<T extends WithStatus>(
  { statuses, events }: Reporters<T>,
  { about, status, events: planned }: Report<T>,
  options: CallOptions = {},
): Promise<void> {
  if (!(await statuses.write(about, status, options))) return;
  for (const { type, reason, note } of planned) events.event(about, type, reason, note);
}
