import type { ConnectivityCheck } from '../../api/connectivitycheck/connectivityCheck.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { report } from '../../runtime/status/report.ts';
import type { StatusWriter } from '../../runtime/status/statusWriter.ts';
import { decide } from './decide/decide.ts';
import type { ConnectivityCheckMetrics } from './metrics.ts';
import type { EvaluationFeed } from './observe/evaluationFeed.ts';

/** The dependencies of a reconcile. */
export interface Dependencies {
  readonly statuses: StatusWriter<ConnectivityCheck>;
  readonly feed: Pick<EvaluationFeed, 'view'>;
  readonly events: EventRecorder;
  readonly metrics: ConnectivityCheckMetrics;
  readonly clock: Clock;
  readonly isLeader: () => boolean;
  /** When this process last wrote the status of a check, by name: monotonic ms. */
  readonly written: Map<string, number>;
}

/**
 * Reconciles one ConnectivityCheck: observe, decide, report. Level-based: the triggering event does not matter.
 *
 * @param key the name of the check
 * @throws WaitingError if somebody else wrote the object meanwhile; ApiError, TransportError
 */
export async function reconcile(
  d: Dependencies,
  key: string,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const check = d.statuses.newest(key);
  if (check === undefined) {
    d.metrics.forget(key);
    d.statuses.forget(key);
    d.written.delete(key);
    return undefined;
  }
  if (!d.isLeader()) return undefined;
  const server = d.feed.view(key);
  const { status, write, events, requeueAfterMs } = decide({
    check,
    server,
    now: d.clock.now(),
    writtenAgoMs: writtenAgo(d, key),
  });
  d.metrics.record(key, status);
  if (write === check.status || check.metadata?.deletionTimestamp !== undefined) return next(requeueAfterMs);
  await report(d, { about: check, status: write, events }, signal === undefined ? {} : { signal });
  d.written.set(key, d.clock.monotonic());
  return next(requeueAfterMs);
}

function writtenAgo({ written, clock }: Dependencies, key: string): number | undefined {
  const at = written.get(key);
  return at === undefined ? undefined : clock.monotonic() - at;
}

function next(requeueAfterMs: number | undefined): ReconcileResult | undefined {
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}
