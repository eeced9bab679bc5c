import type { ConnectivityCheck } from '../../api/connectivitycheck/connectivityCheck.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { isWithoutBody } from '../../runtime/cache/bodyBudget.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { report, type StatusWriter } from '../../runtime/status/statusWriter.ts';
import { isTerminating, metaTime, terminatingConditions } from '../../runtime/controller/conditions.ts';
import { decide, tooLarge } from './decide/decide.ts';
import { intervalMs } from './decide/known.ts';
import { findingHistoryOf, type FindingHistory } from './model/findingHistory.ts';
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
  /** By the name of the check. */
  readonly memories: Map<string, Memory>;
}

/** The state of a check in the memory of this process. */
export interface Memory {
  /** When it last wrote the status, monotonic ms; undefined if it has not. */
  readonly writtenAt?: number | undefined;
  readonly history: FindingHistory;
}

/**
 * Reconciles one ConnectivityCheck: observe, decide, report. Level-based: the triggering event does not matter.
 *
 * @param key the name of the check
 * @throws WaitingError if another client wrote the object meanwhile; ApiError, TransportError
 */
export async function reconcile(
  d: Dependencies,
  key: string,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const check = d.statuses.newest(key);
  if (check === undefined || !d.isLeader()) {
    d.metrics.forget(key);
    d.memories.delete(key);
    if (check === undefined) d.statuses.forget(key);
    return undefined;
  }
  if (isTerminating(check)) {
    const conditions = terminatingConditions(check, d.clock.now());
    await d.statuses.write(check, { ...check.status, conditions }, { signal });
    d.metrics.forget(key);
    return undefined;
  }
  if (isWithoutBody(check)) {
    const { status, events } = tooLarge(check, metaTime(d.clock.now()));
    d.metrics.record(key, status);
    await report(d, { about: check, status, events }, { signal });
    return undefined;
  }
  const server = d.feed.view(key);
  const now = d.clock.monotonic();
  const { writtenAt, history: seen }: Memory = d.memories.get(key) ?? { history: new Map() };
  const history =
    server.evaluation === undefined
      ? seen
      : findingHistoryOf(seen, server.evaluation.findings, { now, intervalMs: intervalMs(check) });
  d.memories.set(key, { writtenAt, history });
  const writtenAgoMs = writtenAt === undefined ? undefined : now - writtenAt;
  const { status, write, events, requeueAfterMs } = decide({
    ...{ check, server, history, writtenAgoMs },
    now: d.clock.now(),
  });
  d.metrics.record(key, status);
  const next = requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  if (write === check.status) return next;
  await report(d, { about: check, status: write, events }, { signal });
  d.memories.set(key, { writtenAt: d.clock.monotonic(), history });
  return next;
}
