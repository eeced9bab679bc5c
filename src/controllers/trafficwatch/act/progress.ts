import type { Clock } from '../../../runtime/process/clock.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { Writers } from './act.ts';
import { isTerminating } from '../../../runtime/status/terminating.ts';
import { progressStatus, terminatingStatus } from '../decide/report/status.ts';
import type { Plan } from '../decide/plan.ts';
import type { Sources } from '../observe/observe.ts';
import type { Observation } from '../observe/observation.ts';

/**
 * How often the status reports the number of written labels: ms. If the labels take less time, there is no such report,
 * only the status at the end.
 */
export const PROGRESS_EVERY_MS = 10_000;

/** The dependencies of progress reports. */
export interface ProgressTools {
  readonly sources: Sources;
  readonly writers: Writers;
}

/**
 * Runs `work`, and meanwhile reports the progress of the plan's labels in the status: 50,000 labels take minutes.
 * Rejects if `work` rejects. A failed status write is ignored, because the status at the end replaces it.
 */
export async function tellingProgress<T>(
  tools: ProgressTools,
  o: Observation,
  plan: Plan,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const reporting = reportUntil(ended.signal, tools, o, plan);
  try {
    return await work();
  } finally {
    ended.abort();
    // Wait, so that a late progress write cannot overwrite the status at the end.
    await reporting;
  }
}

async function reportUntil(ended: AbortSignal, tools: ProgressTools, o: Observation, plan: Plan): Promise<void> {
  const { clock } = tools.sources;
  if (plan.labels.size === 0 || (plan.finalizer !== 'Add' && !isTerminating(o.watch))) return;
  while (await hasPassed(clock, PROGRESS_EVERY_MS, ended)) await reportProgress(tools, o, plan).catch(() => undefined);
}

async function hasPassed(clock: Clock, ms: number, ended: AbortSignal): Promise<boolean> {
  await clock.sleep(ms, ended);
  return !ended.aborted;
}

async function reportProgress({ sources, writers }: ProgressTools, o: Observation, plan: Plan): Promise<void> {
  const progress = writers.nodeLabels.progressOf(plan.labels);
  if (progress === undefined) return;
  const watch = writers.statuses.newest(keyOf(o.watch)) ?? o.watch;
  const now = sources.clock.now();
  const status = isTerminating(watch) ? terminatingStatus(watch, [], now) : progressStatus(watch, progress, now);
  await writers.statuses.write(watch, status, { signal: writers.signal });
}
