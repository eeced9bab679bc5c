import { isStrict } from '../../../../api/trafficwatch/spec/placement.ts';
import { passesOf } from '../../../../api/trafficwatch/spec/verdict.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import { findCondition, metaTime, setCondition, type Condition } from '../../../../runtime/controller/conditions.ts';
import type { Observation } from '../../observe/observation.ts';
import { WAIT_FOR_DATA_MS, waitingSinceOf } from '../deployment.ts';
import type { Failure } from '../../../../runtime/process/problem.ts';
import type { ContendedLabel } from '../labels/labelContention.ts';
import { selectsNone, type Plan } from '../plan.ts';
import type { Breaker } from '../verdict/breaker.ts';
import { refusedPlacement, workloadConditions } from './workloadConditions.ts';
import { named, draft, measurementConditions, NONE_SELECTED, type Draft } from './measurementConditions.ts';
import type { TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import type { ContestedReplicas } from '../../model/replicas.ts';

function ready(o: Observation, plan: Plan, failures: readonly Failure[]): Draft {
  if (plan.stall) return draft('False', plan.stall.reason, plan.stall.message);
  const refused = failures.find(({ isRefused }) => isRefused) ?? refusedPlacement(o, plan);
  if (refused) return draft('False', refused.reason, `${refused.message}. ${AGAINST_REFUSAL}`);
  if (plan.decided) return draft('True', Reason.Decided, decidedMessage(o, plan));
  if (o.view.passes.length === 0)
    return draft('Unknown', Reason.Initializing, 'Waiting for the first Prometheus query');
  return undecided(o, plan);
}

const AGAINST_REFUSAL =
  'Correct the right, the quota or the admission policy that refuses the write; the operator tries again';

function decidedMessage({ view }: Observation, { planned }: Plan): string {
  if (selectsNone(view)) return NONE_SELECTED;
  const where =
    planned === undefined ? 'see the node labels' : 'dry run (mode Observe): see status.nodes, labels are not written';
  return `Every node has a verdict; ${where}`;
}

/** Returns the number of consecutive measurements that a verdict needs. */
function measurementsNeeded({ watch }: Observation): string {
  const { unfit, fit } = passesOf(watch.spec);
  const most = Math.max(unfit, fit);
  return most === 2 ? 'two' : String(most);
}

/** The Deployment may exist before verdicts do: it was taken over, or the wait for data has ended. */
function undecided(o: Observation, plan: Plan): Draft {
  if (plan.deployment?.kind !== 'Apply') {
    return draft('False', Reason.Deciding, `Waiting for ${measurementsNeeded(o)} consecutive measurements with data`);
  }
  const where = isStrict(o.watch.spec) ? 'run on any node that is' : 'run on any node, and prefer those that are';
  const meanwhile = `the Deployment exists, and its pods ${where} not labelled unfit`;
  if (o.now < waitingSinceOf(o.watch, o.feedStartedAt) + WAIT_FOR_DATA_MS) {
    return draft(
      'False',
      Reason.Deciding,
      `Waiting for ${measurementsNeeded(o)} consecutive measurements with data; ${meanwhile}`,
    );
  }
  const needed = measurementsNeeded(o);
  const lacking =
    needed === 'two'
      ? 'the last two measurements do not both have data'
      : `fewer than ${needed} consecutive measurements have data`;
  const waited = `Waited ${WAIT_FOR_DATA_MS / 1000} s for data, but ${lacking}`;
  return draft('False', Reason.DecidedWithoutData, `${waited}; until they do, ${meanwhile}`);
}

function contentionMessage(contended: readonly ContendedLabel[]): string {
  const labels = contended.map(({ node, key, rival }) => {
    const by = rival === undefined ? '' : ` (by field manager "${rival}")`;
    return `label ${key} of node ${node}${by}`;
  });
  return `Another client keeps overwriting ${named(labels.sort())}. Stop it; the operator retries with growing delays`;
}

function reconciling({ watch }: Observation, plan: Plan, failures: readonly Failure[]): Draft {
  const [failure] = failures;
  if (failure) {
    const more = failures.length > 1 ? ` (and ${failures.length - 1} more)` : '';
    return draft('True', failure.reason, `${failure.message}${more}`);
  }
  if (plan.contended.length > 0) return draft('True', Reason.LabelContested, contentionMessage(plan.contended));
  const contested = plan.deployment?.kind === 'Apply' ? plan.deployment.contested : undefined;
  if (contested) return draft('True', Reason.ReplicasContested, contestedMessage(watch, contested));
  if (plan.renaming) return draft('True', Reason.LabelRenaming, 'moving nodes and Deployment to the new label key');
  if (!plan.decided && !plan.stall) return draft('True', Reason.Deciding, 'nodes are not decided yet');
  return draft('False', Reason.UpToDate, upToDateMessage(plan));
}

function upToDateMessage(plan: Plan): string {
  if (plan.planned)
    return 'Dry run (mode Observe): nothing is written; status.plan shows what mode Enforce would write';
  return plan.stall ? stillWritten(plan) : 'Everything is up to date';
}

/** Says what a stalled TrafficWatch still writes. Some stalls stop the labels as well as the Deployment. */
function stillWritten({ verdicts }: Plan): string {
  const written =
    verdicts.length > 0 ? 'Labels are updated; the Deployment is unchanged' : 'Labels and Deployment are unchanged';
  return `${written} while Stalled`;
}

function stalled(plan: Plan): Draft {
  if (plan.stall) return draft('True', plan.stall.reason, plan.stall.message);
  return draft('False', Reason.NotStalled, 'No problem found');
}

/** The counts move: see withSteadyBreaker. In the cooldown there are none, and the time is absolute. */
function breakerOpen({ above, recovering = 0, limit, held, closesAt }: Breaker): Draft {
  if (closesAt !== undefined) {
    const until = metaTime(closesAt);
    const message = `the nodes above the threshold are within the limit of ${limit} (maxUnfit, minFit); no further node becomes unfit until ${until}, when breakerCooldown ends`;
    return draft('True', Reason.CoolingDown, message);
  }
  if (held === 0) return draft('False', Reason.WithinLimit, `within the limit: at most ${limit} nodes may be unfit`);
  const staying = recovering === 0 ? '' : `; ${recovering} of the unfit nodes are only above recoverBandwidthPercent`;
  const message = `${above} nodes exceed the threshold, at most ${limit} may be unfit (maxUnfit, minFit); ${held} still accept pods${staying}`;
  return draft('True', Reason.TooManyUnfit, message);
}

/**
 * Whether the spec lacks the field that this condition is about: a limit, a target, a foreign workload, a required
 * placement. While nothing is decided the condition is unchanged.
 */
function isDropped({ watch: { spec } }: Observation, { type }: Pick<Condition, 'type'>): boolean {
  if (type === ConditionType.BreakerOpen) return spec.maxUnfit === undefined && spec.minFit === undefined;
  if (type === ConditionType.NoFitNode) return !isStrict(spec);
  if (type === ConditionType.TargetFound) return spec.targetRef === undefined;
  if (type === ConditionType.InjectionUnavailable) {
    return spec.targetRef === undefined && spec.podSelector === undefined;
  }
  return false;
}

/** The conditions that describe the newest pass over Prometheus. */
const ABOUT_PASSES: ReadonlySet<string> = new Set([ConditionType.PrometheusReachable, ConditionType.MetricsAvailable]);

/**
 * The conditions of a TrafficWatch, from the observation, the plan and the failed writes. Ready comes first and sums
 * up. It means that verdicts were decided once, the TrafficWatch is not Stalled, and no right, quota or admission refuses
 * a write; not that the last pass succeeded, so it stays True through restarts and outages. Messages contain no figure that changes from pass to pass, so that
 * an unchanged state causes no write.
 *
 * @param now RFC 3339; becomes the lastTransitionTime of conditions whose status changes
 */
export function decideConditions(o: Observation, plan: Plan, failures: readonly Failure[], now: string): Condition[] {
  const before = (o.watch.status?.conditions ?? []).filter((condition) => !isDropped(o, condition));
  const drafts: [string, Draft][] = [
    [ConditionType.Ready, ready(o, plan, failures)],
    [ConditionType.Reconciling, reconciling(o, plan, failures)],
    [ConditionType.Stalled, stalled(plan)],
    ...measurementConditions(o, findCondition(before, ConditionType.MetricsAvailable)),
    ...(typeof plan.breaker === 'object'
      ? [[ConditionType.BreakerOpen, breakerOpen(plan.breaker)] as [string, Draft]]
      : []),
    ...workloadConditions(o, plan),
  ];
  // After a start of the operator, keep the conditions about passes until the first pass ends.
  const due = drafts.filter(
    ([type]) => o.view.passes.length > 0 || !ABOUT_PASSES.has(type) || !before.some((c) => c.type === type),
  );
  const observedGeneration = o.watch.metadata?.generation;
  return due.reduce<Condition[]>(
    (conditions, [type, d]) => setCondition(conditions, { type, ...d, observedGeneration }, now),
    before,
  );
}

/** Says who overrides the replicas of the spec, and the two ways to end that. */
function contestedMessage({ metadata }: TrafficWatch, { wanted, by }: ContestedReplicas): string {
  const { name = '', namespace = '' } = metadata ?? {};
  const remove = `kubectl -n ${namespace} patch trafficwatch ${name} --type=json -p '[{"op":"remove","path":"/spec/deployment/replicas"}]'`;
  const scale = `kubectl -n ${namespace} scale deployment ${name} --replicas=${wanted}`;
  return (
    `spec.deployment.replicas is ${wanted}, but field manager "${by}", such as an autoscaler, keeps scaling the Deployment, ` +
    `and its count applies; remove the replicas from the spec: ${remove}; or stop that client, and set them once: ${scale}`
  );
}

/**
 * The conditions, with the counts in the message of BreakerOpen as they were. The counts of nodes above the threshold
 * move from pass to pass while the breaker is open, and a large cluster writes its figures once a minute: its counts
 * must not write the status in between. Another status, reason or spec is written at once.
 *
 * @param before the conditions of the last status
 */
export function withSteadyBreaker(
  conditions: readonly Condition[],
  before: readonly Condition[] | undefined,
): Condition[] {
  const was = findCondition(before, ConditionType.BreakerOpen);
  return conditions.map((now) => {
    const isSame =
      now.type === was?.type &&
      now.status === was.status &&
      now.reason === was.reason &&
      now.observedGeneration === was.observedGeneration;
    return isSame ? { ...now, message: was.message } : now;
  });
}
