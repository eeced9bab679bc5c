import { durationMs } from '../../../../api/fieldSchemas.ts';
import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import { DEFAULT_DEADLINE } from '../../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';
import { IN_PROGRESS_REASONS } from '../../../../api/trafficweight/reasons.ts';
import { idOf } from '../../../../runtime/objectSet/objectSet.ts';
import type { AskAgain, ObservedComponent, ObservedObject } from '../../observe/observation.ts';
import { workloadsOf } from '../../render/kinds.ts';
import { causeOf } from '../cause/cause.ts';
import { withLostPod } from '../cause/podProblem.ts';
import { answerText, isOfOthers, missingState, usesTheSame } from './external.ts';
import { podsOfAll, readinessOf, worstOf } from './readiness.ts';
import { unmetBy } from './unmet.ts';
import { figuresOf, figuresText } from './workloadFigures.ts';

/** The state of a component, without its name and time. */
export type Decided = Pick<ComponentStatus, 'state' | 'reason' | 'message'> &
  Partial<ComponentStatus> & {
    /** Whether all its pods are available, so that only `ready` may keep it from being ready. */
    readonly isAvailable?: boolean;
    /** What it waits for an answer to. */
    readonly again?: AskAgain | undefined;
    /** Whether it was ready, and only has more pods to start. */
    readonly isGrowing?: boolean;
  };

/** What a component was, and what time it is. */
export interface Past {
  readonly prior: ComponentStatus | undefined;
  /** ms since 1970 */
  readonly now: number;
}

/** The state of a component whose workload is not written. Pods of the stack, as of a workload that it had before, tell nothing of others. */
export function externalState(component: ObservedComponent, stack: TrafficStack, past: Past): Decided {
  const { prior } = past;
  const ofOthers = isOfOthers(component, stack);
  const seen = ofOthers ? { ...component, pods: [] } : component;
  const missing = missingState(component, wasReady(component, prior));
  if (missing !== undefined) return missing;
  const answer = answerText(seen);
  const present =
    answer === undefined
      ? running(seen, past, ofOthers)
      : expected(seen, prior, { reason: Reason.Answering, message: answer });
  // Its name is not in the spec.
  const isNamed = component.external === undefined || present.reason === Reason.StatusMissing;
  return isNamed ? present : { ...present, message: `uses ${present.message}` };
}

/** The state of a component that waits for nothing. @param open its objects that are not current */
export function presentState(component: ObservedComponent, [first]: readonly ObservedObject[], past: Past): Decided {
  const figures = figuresOf(component);
  if (first === undefined) return { ...running(component, past), ...figures };
  const verb = first.live === undefined ? 'create' : 'change';
  const { unproven } = component;
  const instead = unproven === undefined ? '' : `; the operator deploys its own, since ${unproven}`;
  const message = `to ${verb}: ${idOf(first)}${instead}`;
  return { state: 'Progressing', reason: Reason.Applying, message, ...figures };
}

/** The state of a component whose objects are current. @param ofOthers whether somebody else has made its workload */
function running(component: ObservedComponent, past: Past, ofOthers = false): Decided {
  const { prior } = past;
  const workloads = workloadsOf(component.objects);
  if (workloads.length === 0) return applied(component, prior);
  const worst = worstOf(workloads);
  if (worst?.live === undefined) throw new Error('the workload of a component is current, and does not exist');
  const readiness = readinessOf(worst.live, ofOthers);
  if (readiness.phase === 'Ending') {
    const ending = withLostPod(`${idOf(worst)} is being deleted`, component.pods);
    return unready(Reason.BeingDeleted, ending, wasReady(component, prior));
  }
  if (readiness.phase === 'StatusMissing') {
    const message = `${idOf(worst)} has no status of its generation yet`;
    return { state: 'Unknown', reason: Reason.StatusMissing, message };
  }
  // A DaemonSet without pods measures nothing, however well it is.
  if (component.external !== undefined && readiness.desired === 0) {
    return unready(Reason.PodsUnavailable, figuresText(worst), wasReady(component, prior));
  }
  if (readiness.phase === 'Ready') {
    const stopped = workloads.find((workload) => isScaledToZero(component, workload));
    if (stopped !== undefined) {
      const message = `${idOf(stopped)} is scaled to 0, which the spec does not ask for: scale it up, or set workload.replicas to 0`;
      return unready(Reason.ScaledToZero, message, wasReady(component, prior));
    }
    const { reason = Reason.AllAvailable } = readiness.condition ?? {};
    return expected(component, prior, { reason, message: workloads.map(figuresText).join('; ') });
  }
  const figures = figuresText(worst);
  const { condition } = readiness;
  if (condition !== undefined) return unready(condition.reason, figures, wasReady(component, prior));
  const ofPods = causeOf(component, readiness);
  const message = ofPods === undefined ? figures : `${figures}; ${ofPods.message}`;
  if (!wasReady(component, prior))
    return { state: 'Progressing', reason: ofPods?.reason ?? Reason.RollingOut, message };
  const { desired = 0, available = 0 } = readiness;
  const isReplaced = readiness.phase === 'RollingOut' && available >= desired;
  const isGrowing = growsIn(component, workloads, past, isReplaced);
  if (isGrowing) return { state: 'Progressing', reason: ofPods?.reason ?? Reason.RollingOut, message, isGrowing };
  const reason = isReplaced ? Reason.RollingOut : Reason.PodsUnavailable;
  return { state: 'Degraded', reason: ofPods?.reason ?? reason, message };
}

/** When the deadline of a component passes, ms since 1970. @param since when it began to start; RFC 3339 */
export function deadlineOf({ deadline = DEFAULT_DEADLINE }: ObservedComponent['spec'], since: string): number {
  return Date.parse(since) + durationMs(deadline);
}

/** Whether a Deployment or StatefulSet is to have no pods, and the spec asks for some. Conditions of the user decide instead, if there are any. */
function isScaledToZero({ spec }: ObservedComponent, { live }: ObservedObject): boolean {
  if (live === undefined || live.kind === 'DaemonSet' || spec.ready !== undefined) return false;
  return spec.workload?.replicas !== 0 && readinessOf(live).desired === 0;
}

/**
 * Whether a component that was ready as it is asked for now only has more pods to start, as after a node has joined, or an autoscaler has
 * asked for more. These have never been ready.
 *
 * | it was before                    | its pods                                            | it only grows |
 * |----------------------------------|-----------------------------------------------------|-----|
 * | Degraded                         | any                                                 | no  |
 * | Progressing or Unknown for its deadline | any                                          | no  |
 * | Unknown, also how many pods it had | any                                               | yes |
 * | Progressing                      | as many are available as before                     | yes |
 * | Ready or Unknown                 | more than before, and as many are available as before | yes |
 * | Ready                            | all are available while they are replaced, as after `kubectl rollout restart` | yes |
 * | anything else                    |                                                     | no  |
 */
function growsIn(
  { spec }: ObservedComponent,
  workloads: readonly ObservedObject[],
  { prior, now }: Past,
  isReplaced: boolean,
): boolean {
  if (prior === undefined || prior.state === 'Degraded') return false;
  const { state, since, replicas, readyReplicas = 0 } = prior;
  if (state !== 'Ready' && now >= deadlineOf(spec, since)) return false;
  if (replicas === undefined || isReplaced) return true;
  const { desired = 0, available = 0 } = podsOfAll(workloads) ?? {};
  return available >= readyReplicas && (state === 'Progressing' || desired > replicas);
}

/** The state of a component that has only objects without a status, such as ConfigMaps, and all are as desired. */
function applied(component: ObservedComponent, prior: ComponentStatus | undefined): Decided {
  const { length } = component.objects;
  const message = `${length} of ${length} objects are applied`;
  return expected(component, prior, { reason: Reason.AllApplied, message });
}

/** The state of a component whose TrafficWeight is not ready, or whose workload is being deleted. Each weight that its backend asks for is on its way for a moment. */
function unready(reason: string, message: string, was: boolean): Decided {
  return { state: was && !IN_PROGRESS_REASONS.has(reason) ? 'Degraded' : 'Progressing', reason, message };
}

/** The state of a component whose pods are available, or whose weight is in force. @param seen that, for people */
function expected(
  component: ObservedComponent,
  prior: ComponentStatus | undefined,
  seen: Pick<ComponentStatus, 'reason' | 'message'>,
): Decided {
  const isAvailable = true;
  const unmet = unmetBy(component, wasReady(component, prior) && prior?.state === 'Ready');
  if (unmet === undefined) return { state: 'Ready', ...seen, isAvailable };
  const { message, again } = unmet;
  const state = unmet.state ?? (wasReady(component, prior) ? 'Degraded' : 'Progressing');
  return { state, reason: Reason.NotReadyYet, message: `${seen.message}; ${message}`, isAvailable, again };
}

/**
 * Whether it was ready as it is asked for now. After another spec it was not, although the status may say so: the operator may have been
 * killed after it wrote the objects.
 */
export function wasReady(component: ObservedComponent, prior: ComponentStatus | undefined): boolean {
  if (usesTheSame(component, prior)) return true;
  if (prior?.revision !== component.revision) return false;
  return prior.state === 'Ready' || prior.state === 'Degraded' || prior.readyRevision === component.revision;
}
