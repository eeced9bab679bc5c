import { durationMs } from '../../../api/fieldSchemas.ts';
import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import { DEFAULT_DEADLINE, type ComponentState } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { IN_PROGRESS_REASONS } from '../../../api/trafficweight/reasons.ts';
import { cut } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { evaluate } from '../expression/expression.ts';
import type { Requery, ObservedComponent, ObservedObject, Answer } from '../model/observation.ts';
import { workloadsOf } from '../render/kinds.ts';
import { causeOf } from './cause.ts';
import { answerText, isForeign, missingState, usesTheSame } from './external.ts';
import { withLostPod } from './podProblem.ts';
import { unreadyObject } from './objectReadiness.ts';
import { podsOfAll, readinessOf, worstOf, figuresOf, figuresText } from './readiness.ts';

/** The state of a component, without its name and time. */
export type Decided = Pick<ComponentStatus, 'state' | 'reason' | 'message'> &
  Partial<ComponentStatus> & {
    /** True if all pods are available: only `ready` can keep the component from being ready. */
    readonly isAvailable?: boolean;
    /** The query that must be sent again. */
    readonly requery?: Requery | undefined;
    /** The object that messages name. Undefined: see whatOf. */
    readonly what?: string;
    /** True if the component was ready and only starts more pods. */
    readonly isGrowing?: boolean;
  };

/** The earlier status of a component, and the present time. */
interface Past {
  readonly prior: ComponentStatus | undefined;
  /** ms since 1970 */
  readonly now: number;
}

/** Returns the state of a component with the mode External. Pods of an earlier workload of the stack do not count. */
export function externalState(component: ObservedComponent, stack: TrafficStack, past: Past): Decided {
  const { prior } = past;
  const isForeignWorkload = isForeign(component, stack);
  const seen = isForeignWorkload ? { ...component, pods: [] } : component;
  const missing = missingState(component, wasReady(component, prior));
  if (missing !== undefined) return missing;
  const answer = answerText(seen);
  const present =
    answer === undefined
      ? running(seen, past, isForeignWorkload)
      : expected(seen, prior, { reason: Reason.Answering, message: answer });
  // Its name is not in the spec.
  const isNamed = component.external === undefined || present.reason === Reason.StatusMissing;
  return isNamed ? present : { ...present, message: `uses ${present.message}` };
}

/** Returns the state of a component that waits for nothing. @param open its objects that are not current */
export function presentState(component: ObservedComponent, [first]: readonly ObservedObject[], past: Past): Decided {
  const figures = figuresOf(component);
  if (first === undefined) return { ...running(component, past), ...figures };
  const verb = first.live === undefined ? 'create' : 'change';
  const { unproven } = component;
  const instead = unproven === undefined ? '' : `; the operator deploys its own, since ${unproven}`;
  const message = `to ${verb}: ${idOf(first)}${instead}`;
  return { state: 'Progressing', reason: Reason.Applying, message, ...figures };
}

/** Returns the state of a component whose objects are current. @param isForeignWorkload whether another owner has made its workload */
function running(component: ObservedComponent, past: Past, isForeignWorkload = false): Decided {
  const { prior } = past;
  const workloads = workloadsOf(component.objects);
  if (workloads.length === 0) return applied(component, prior);
  const worst = worstOf(workloads);
  if (worst?.live === undefined) throw new Error('the workload of a component is current, and does not exist');
  const readiness = readinessOf(worst.live, isForeignWorkload);
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

/** Returns the deadline of a component, ms since 1970. @param since when it began to start; RFC 3339 */
export function deadlineOf({ deadline = DEFAULT_DEADLINE }: ObservedComponent['spec'], since: string): number {
  return Date.parse(since) + durationMs(deadline);
}

/** Whether a Deployment or StatefulSet is to have no pods, and the spec asks for some. Conditions of the user decide instead, if there are any. */
function isScaledToZero({ spec }: ObservedComponent, { live }: ObservedObject): boolean {
  if (live === undefined || live.kind === 'DaemonSet' || spec.ready !== undefined) return false;
  return spec.workload?.replicas !== 0 && readinessOf(live).desired === 0;
}

/**
 * Returns whether a component that was ready only starts more pods, for example after a node joined or an autoscaler added some. These pods were
 * never ready.
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

/** Returns the state of a component whose objects are current, and have no status, such as ConfigMaps, or are of the type Objects. */
function applied(component: ObservedComponent, prior: ComponentStatus | undefined): Decided {
  const unready = unreadyObject(component);
  if (unready !== undefined) {
    const { hasFailed, ...told } = unready;
    if (hasFailed) return { state: 'Failed', reason: Reason.ObjectFailed, ...told };
    return { state: wasReady(component, prior) ? 'Degraded' : 'Progressing', reason: Reason.NotReadyYet, ...told };
  }
  const { length } = component.objects;
  const message = `${length} of ${length} objects are applied`;
  return expected(component, prior, { reason: Reason.AllApplied, message });
}

/**
 * Returns the state of a component whose TrafficWeight is not ready, or whose workload is being deleted. A weight that the backend requests takes a
 * moment.
 */
function unready(reason: string, message: string, was: boolean): Decided {
  return { state: was && !IN_PROGRESS_REASONS.has(reason) ? 'Degraded' : 'Progressing', reason, message };
}

/** Returns the state of a component with available pods, or with an active weight. @param seen that, for people */
function expected(
  component: ObservedComponent,
  prior: ComponentStatus | undefined,
  seen: Pick<ComponentStatus, 'reason' | 'message'>,
): Decided {
  const isAvailable = true;
  const unmet = unmetBy(component, wasReady(component, prior) && prior?.state === 'Ready');
  if (unmet === undefined) return { state: 'Ready', ...seen, isAvailable };
  const { message, requery } = unmet;
  const state = unmet.state ?? (wasReady(component, prior) ? 'Degraded' : 'Progressing');
  return { state, reason: Reason.NotReadyYet, message: `${seen.message}; ${message}`, isAvailable, requery };
}

/**
 * Returns whether the component was ready with its present spec. The status alone does not prove it: the operator may have been killed between its
 * writes.
 */
export function wasReady(component: ObservedComponent, prior: ComponentStatus | undefined): boolean {
  if (usesTheSame(component, prior)) return true;
  if (prior?.revision !== component.revision) return false;
  return prior.state === 'Ready' || prior.state === 'Degraded' || prior.readyRevision === component.revision;
}

/** The reason why a component with available pods is not ready. */
interface Unmet {
  /** Unknown if the query has no answer. Undefined: as with unavailable pods. */
  readonly state?: ComponentState;
  readonly message: string;
  /** The query, if its last answer does not count. */
  readonly requery?: Requery;
}

/** Characters of a quoted expression. */
const LONGEST_QUOTE = 120;

/**
 * Returns why a component with available pods is not ready: its expression, then its query. Undefined if it is ready.
 *
 * @param wasReady whether it was ready with this very spec: then it stays so until its query is asked, as after a restart
 */
function unmetBy(component: ObservedComponent, wasReady: boolean): Unmet | undefined {
  return unmetExpression(component) ?? unmetQuery(component, wasReady);
}

function unmetExpression({ spec, objects, variables }: ObservedComponent): Unmet | undefined {
  const expression = spec.ready?.expression;
  if (expression === undefined) return undefined;
  const live = objects.flatMap(({ live: each }) => each ?? []);
  const services = live.filter(({ kind }) => kind === 'Service');
  const result = evaluate(expression, { ...variables, workload: live.at(-1), services });
  const what = `ready.expression ${quoted(expression)}`;
  if ('problem' in result) return { message: `${what}: ${result.problem}` };
  if (result.value === true) return undefined;
  if (result.value === false) return { message: `${what} is false` };
  return { message: `${what} gives no bool` };
}

function unmetQuery({ spec, answer }: ObservedComponent, wasReady: boolean): Unmet | undefined {
  const query = spec.ready?.query;
  if (query === undefined || answer === undefined) return undefined;
  return unmetAnswer({ query, answer }, 'ready.query', wasReady);
}

/**
 * Returns why the answer to a query is not true. Undefined if it is true.
 *
 * @param field that has the query, for messages
 * @param wasTrue whether it was true before: then it counts as true until it is asked
 */
export function unmetAnswer(
  { query, answer }: { readonly query: string; readonly answer: Answer },
  field: string,
  wasTrue: boolean,
): Unmet | undefined {
  const what = `${field} ${quoted(query)}`;
  switch (answer.is) {
    case 'True':
      return undefined;
    case 'False':
      return { message: `${what} ${answer.message}` };
    case 'Unknown':
      return { state: 'Unknown', message: `${what}: ${answer.message}` };
    case 'Pending':
      return wasTrue ? undefined : { state: 'Unknown', ...pending(query, answer, what) };
  }
}

function pending(query: string, { since }: { readonly since?: number }, what: string): Omit<Unmet, 'state'> {
  if (since === undefined) return { message: `${what} is not answered yet` };
  return { message: `${what} is asked again`, requery: { query, since } };
}

/** Quotes an expression or a query, cut to fit into a message. */
function quoted(text: string): string {
  return `"${cut(text, LONGEST_QUOTE)}"`;
}
