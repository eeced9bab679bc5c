import type { Clock } from '../../../runtime/process/clock.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { Writers } from './act.ts';
import { progressStatus } from '../decide/report/progress.ts';
import type { Plan } from '../decide/plan.ts';
import type { Sources } from '../observe/observe.ts';
import type { Observation } from '../observe/observation.ts';

/**
 * How often the status tells how many labels are written, ms. In a cluster whose labels take less, it never does: the
 * status that follows tells how it went.
 */
export const PROGRESS_EVERY_MS = 10_000;

/** What progress is told with. */
export interface ProgressTools {
  readonly sources: Sources;
  readonly writers: Writers;
}

/**
 * Does the work, and tells in the status meanwhile how far the labels of the plan are: 50,000 of them take minutes.
 * Rejects as the work does; a status that could not be written is no failure, since the one at the end says it all.
 */
export async function tellingProgress<T>(
  tools: ProgressTools,
  o: Observation,
  plan: Plan,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const telling = tellUntil(ended.signal, tools, o, plan);
  try {
    return await work();
  } finally {
    ended.abort();
    // Not beside the status that follows: of two writes the earlier one might come last.
    await telling;
  }
}

async function tellUntil(ended: AbortSignal, tools: ProgressTools, o: Observation, plan: Plan): Promise<void> {
  const { clock } = tools.sources;
  if (plan.labels.size === 0 || plan.finalizer !== 'Add') return;
  while (await hasPassed(clock, PROGRESS_EVERY_MS, ended)) await tell(tools, o, plan).catch(() => undefined);
}

async function hasPassed(clock: Clock, ms: number, ended: AbortSignal): Promise<boolean> {
  await clock.sleep(ms, ended);
  return !ended.aborted;
}

async function tell({ sources, writers }: ProgressTools, o: Observation, plan: Plan): Promise<void> {
  const progress = writers.nodeLabels.progressOf(plan.labels);
  if (progress === undefined) return;
  const watch = writers.statuses.newest(keyOf(o.watch)) ?? o.watch;
  await writers.statuses.write(watch, progressStatus(watch, progress, sources.clock.now()), { signal: writers.signal });
}
