import { directionOf, measureOf } from '../../api/trafficwatch/spec/reading.ts';
import { modeOf } from '../../api/trafficwatch/spec/mode.ts';
import { Reason } from '../../api/trafficwatch/reasons.ts';
import type { TrafficWatch } from '../../api/trafficwatch/schema.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import { IncompleteError } from '../../runtime/client/errors.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { report } from '../../runtime/status/statusWriter.ts';
import { isTerminating } from '../../runtime/controller/conditions.ts';
import { act, type Outcome, type Writers } from './act/act.ts';
import { BEHIND_MS } from './act/writeCall.ts';
import { decidePlan } from './decide/decidePlan.ts';
import type { Plan } from './decide/plan.ts';
import { terminatingStatus, decideStatus, progressStatus } from './decide/report/status.ts';
import { decideEvents } from './decide/report/events.ts';
import type { TrafficWatchMetrics, WatchInfo } from './metrics.ts';
import { observe, type Sources } from './observe/observe.ts';
import type { Observation } from './observe/observation.ts';
import type { PodEvictions } from './act/evictedPods.ts';
import type { PodRejections } from './act/rejectedPods.ts';
import type { Clock } from '../../runtime/process/clock.ts';

/** The dependencies of a reconcile. */
export interface Dependencies {
  readonly sources: Sources;
  readonly writers: Writers;
  readonly events: EventRecorder;
  readonly metrics: TrafficWatchMetrics;
  readonly podRejections: PodRejections;
  readonly podEvictions: PodEvictions;
  readonly logger: Logger;
  /** A standby observes and decides like the leader, but writes nothing. It can thus act at once when it leads. */
  readonly isLeader: () => boolean;
}

const AT_ONCE_MS = 1;

const DEPLOYMENT_VERBS: Readonly<Record<string, string>> = {
  [Reason.DeploymentCreated]: 'created',
  [Reason.DeploymentUpdated]: 'updated',
  [Reason.DeploymentAdopted]: 'taken over',
};

function announceDeployment(o: Observation, outcome: Outcome, events: EventRecorder): void {
  if (outcome.deployment === undefined) return;
  const verb = DEPLOYMENT_VERBS[outcome.deployment];
  events.event(
    o.watch,
    'Normal',
    outcome.deployment,
    `Deployment ${o.watch.metadata?.name ?? ''} ${verb ?? 'written'}`,
  );
}

function infoOf({ spec }: TrafficWatch): WatchInfo {
  return { mode: modeOf(spec), direction: directionOf(spec), measure: measureOf(spec) };
}

/** True if the plan of a rename wrote labels: the next step is possible then, and our own writes cause no requeue. */
function hasNextStep({ renaming, labels }: Plan): boolean {
  return renaming && labels.size > 0;
}

/** The writers with `signal` in every call, so that no call outlives the reconcile. */
function endingWith(writers: Writers, signal: AbortSignal | undefined): Writers {
  if (!signal) return writers;
  const { client } = writers;
  const mergePatch: Client['mergePatch'] = (resource, ref, patch, options) =>
    client.mergePatch(resource, ref, patch, { ...options, signal });
  return { ...writers, client: { ...client, mergePatch }, signal };
}

function recordMetrics({ metrics }: Dependencies, key: string, { view, watch }: Observation, plan: Plan): void {
  metrics.record(key, view.nodes, plan);
  metrics.capacitySources(key, view.figures.capacitySources);
  metrics.info(key, infoOf(watch));
}

/** Returns the missing writes, as the conditions report them. */
function unwritten({ failures, behind }: Outcome): Failure[] {
  return behind === undefined ? [...failures] : [...failures, behind];
}

async function reportOutcome(d: Dependencies, o: Observation, plan: Plan, outcome: Outcome): Promise<void> {
  const failures = [...unwritten(outcome), ...(o.refusals ?? [])];
  const status = decideStatus(o, plan, failures);
  // However many are beyond a limit, they share one series.
  if (o.limitProblem === undefined) d.metrics.ready(keyOf(o.watch), status.ready === true);
  announceDeployment(o, outcome, d.events);
  const planned = decideEvents({ o, plan, after: status, failures });
  const reporters = { statuses: d.writers.statuses, events: d.events };
  await report(reporters, { about: o.watch, status, events: planned }, { signal: d.writers.signal });
}

/** Reports the deletion after its writes, so that it does not wait for the status. */
async function reportDeletion(d: Dependencies, o: Observation, { isGone, ...outcome }: Outcome): Promise<void> {
  const failures = unwritten(outcome);
  const { statuses, signal } = d.writers;
  const about = statuses.newest(keyOf(o.watch));
  if (isGone || about?.metadata?.uid !== o.watch.metadata?.uid || about === undefined) return;
  if (o.limitProblem === undefined) d.metrics.ready(keyOf(about), false);
  await statuses.write(about, terminatingStatus(about, failures, o.now), { signal });
}

/**
 * Reconciles one TrafficWatch: observe, decide, act, report. Level-based: the triggering event does not matter.
 * @param key namespace/name
 * @param signal aborted when the reconcile must end
 * @returns undefined if no requeue is needed
 * @throws IncompleteError if a write failed, after the status with the failure was written
 * @throws WaitingError if another client wrote the TrafficWatch, or created a Deployment of its name, meanwhile
 */
export async function reconcile(
  dependencies: Dependencies,
  key: string,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const d = { ...dependencies, writers: endingWith(dependencies.writers, signal) };
  const observation = await observe(d.sources, key, signal);
  if (!observation) {
    d.metrics.forget(key);
    d.podRejections.forget(key);
    d.podEvictions.forget(key);
    return undefined;
  }
  const plan = decidePlan(observation);
  if (observation.limitProblem === undefined) recordMetrics(d, key, observation, plan);
  else d.metrics.beyondLimit(key, d.isLeader() ? observation.limitProblem.reason : undefined);
  d.podEvictions.tell(observation, d.isLeader());
  if (!d.isLeader()) return undefined;
  d.podRejections.tell(observation);
  const outcome = await tellingProgress(d, observation, plan, () => act(observation, plan, d.writers));
  // An aborted write is not a failure: the next reconcile repeats it.
  signal?.throwIfAborted();
  if (isTerminating(observation.watch)) await reportDeletion(d, observation, outcome);
  else await reportOutcome(d, observation, outcome.stall ? { ...plan, stall: outcome.stall } : plan, outcome);
  if (outcome.failures.length > 0) throw new IncompleteError(outcome.failures);
  if (outcome.behind) return { requeueAfterMs: BEHIND_MS };
  const requeueAfterMs = hasNextStep(plan) ? AT_ONCE_MS : plan.requeueAfterMs;
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}

/**
 * How often the status reports the number of written labels: ms. If the labels take less time, there is no such report,
 * only the status at the end.
 */
export const PROGRESS_EVERY_MS = 10_000;

/**
 * Runs `work`, and meanwhile reports the progress of the plan's labels in the status: 50,000 labels take minutes.
 * Rejects if `work` rejects. A failed status write is ignored, because the status at the end replaces it.
 */
async function tellingProgress<T>(d: Dependencies, o: Observation, plan: Plan, work: () => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const reporting = reportUntil(ended.signal, d, o, plan);
  try {
    return await work();
  } finally {
    ended.abort();
    // Wait, so that a late progress write cannot overwrite the status at the end.
    await reporting;
  }
}

async function reportUntil(ended: AbortSignal, d: Dependencies, o: Observation, plan: Plan): Promise<void> {
  const { clock } = d.sources;
  if (plan.labels.size === 0 || (plan.finalizer !== 'Add' && !isTerminating(o.watch))) return;
  while (await hasPassed(clock, PROGRESS_EVERY_MS, ended)) await reportProgress(d, o, plan).catch(() => undefined);
}

async function hasPassed(clock: Clock, ms: number, ended: AbortSignal): Promise<boolean> {
  await clock.sleep(ms, ended);
  return !ended.aborted;
}

async function reportProgress({ sources, writers }: Dependencies, o: Observation, plan: Plan): Promise<void> {
  const progress = writers.nodeLabels.progressOf(plan.labels);
  if (progress === undefined) return;
  const watch = writers.statuses.newest(keyOf(o.watch)) ?? o.watch;
  const now = sources.clock.now();
  const status = isTerminating(watch) ? terminatingStatus(watch, [], now) : progressStatus(watch, progress, now);
  await writers.statuses.write(watch, status, { signal: writers.signal });
}
