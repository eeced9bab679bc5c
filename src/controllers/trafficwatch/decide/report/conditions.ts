import { isStrict } from '../../../../api/trafficwatch/spec/placement.ts';
import { passesOf } from '../../../../api/trafficwatch/spec/passes.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import { cut } from '../../../../runtime/status/cut.ts';
import { metaTime, setCondition, type Condition } from '../../../../runtime/controller/conditions.ts';
import {
  clockOffsetMinutes,
  LEAST_SAMPLES_PER_WINDOW,
  tellingLag,
  windowIsTooShort,
  type Snapshot,
  type Unread,
} from '../../../../usage/evaluate/snapshot.ts';
import { describeUnattributed } from '../../../../usage/evaluate/unattributedSeries.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import { WAIT_FOR_DATA_MS, waitingSinceOf } from '../deployment/deployment.ts';
import type { Failure } from '../../../../runtime/status/failure.ts';
import type { ContendedLabel } from '../labels/labelContention.ts';
import { passFailureReason } from '../verdict/verdict.ts';
import { selectsNone, type Plan } from '../plan.ts';
import type { Breaker } from '../verdict/breaker.ts';
import { isBackForGood } from './recovery.ts';
import { workloadConditions } from './workloadConditions.ts';
import { contestedMessage } from './messages/contestedReplicas.ts';
import { describeUnmeasured, LONGEST_PROBLEM, named } from './unmeasured.ts';

/** An empty node group is no error: autoscalers scale it up again. But the selector may also be misspelt. */
const NONE_SELECTED = 'spec.nodeSelector selects no node: no node is judged, and pods may run on any node';

type Draft = Pick<Condition, 'status' | 'reason' | 'message'>;

/**
 * How long a new node may be without figures before that is a problem: ms. Its first scrape comes within 20 s, and a
 * rate needs more than one scrape.
 */
const JOINING_MS = 60_000;
/** Maximum number of measurement problems in a message. */
const PROBLEMS_AT_MOST = 3;

const draft = (status: Condition['status'], reason: string, message: string): Draft => ({ status, reason, message });

function ready(o: Observation, plan: Plan): Draft {
  if (plan.stall) return draft('False', plan.stall.reason, plan.stall.message);
  if (plan.decided) return draft('True', Reason.Decided, decidedMessage(o, plan));
  if (o.view.passes.length === 0)
    return draft('Unknown', Reason.Initializing, 'Waiting for the first Prometheus query');
  return undecided(o, plan);
}

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

function clockRemark(current: Snapshot): string {
  const minutes = clockOffsetMinutes(current);
  if (minutes === undefined) return '';
  const side = minutes > 0 ? 'ahead of' : 'behind';
  return `; the clock of Prometheus is about ${Math.abs(minutes)} min ${side} the operator's; verdicts ignore this`;
}

/** Without the duration, which changes with each pass. */
function slowRemark({ isSlow }: Snapshot): string {
  if (isSlow !== true) return '';
  return (
    '; passes take most of their deadline, and will fail at it: lengthen --interval (chart: interval), give Prometheus or the operator more CPU, ' +
    'or let TrafficWatches have the same direction, measure, devices and capacity'
  );
}

function prometheusReachable(current: Snapshot | undefined): Draft {
  if (!current) return draft('Unknown', Reason.NotAskedYet, 'Prometheus has not been queried yet');
  if (current.ok) {
    return draft(
      'True',
      Reason.PrometheusAnswers,
      `The last query succeeded${slowRemark(current)}${clockRemark(current)}`,
    );
  }
  return draft('False', passFailureReason(current), current.error?.message ?? 'no answer');
}

/** Known problems that may explain missing figures. Only for messages about missing figures. */
function obstacles({ measurementProblems }: Observation): string {
  const more = measurementProblems.length - PROBLEMS_AT_MOST;
  const told = measurementProblems
    .slice(0, PROBLEMS_AT_MOST)
    .map(({ message }) => `; ${cut(message, LONGEST_PROBLEM)}`);
  return `${told.join('')}${more > 0 ? `; and ${more} more problems of the measurement, see the log` : ''}`;
}

/** The nodes without figures, split into those that should have figures and those that cannot have any. */
interface Unmeasured {
  /** Nodes that should have figures. */
  readonly missing: readonly NodeView[];
  /** How many nodes cannot be measured. */
  readonly notMeasurable: number;
  /** Names the nodes that cannot be measured; '' if there are none. */
  readonly remark: string;
}

function unmeasuredOf({ view, notMeasurable }: Observation): Unmeasured {
  const { unmeasured } = view.figures;
  if (notMeasurable.size === 0) return { missing: unmeasured, notMeasurable: 0, remark: '' };
  const missing: NodeView[] = [];
  const names: string[] = [];
  for (const node of unmeasured) {
    const why = notMeasurable.get(node.name);
    if (why === undefined) missing.push(node);
    else names.push(`${node.name} (${why.reason})`);
  }
  const remark = names.length === 0 ? '' : `; nodes that cannot be measured: ${named(names.sort())}`;
  return { missing, notMeasurable: names.length, remark };
}

function dataProblems(o: Observation, current: Snapshot, unmeasured: Unmeasured): Draft | undefined {
  const { missing, notMeasurable, remark } = unmeasured;
  const total = o.view.nodes.length;
  const none = missing.length === total - notMeasurable;
  const due = none ? missing : missing.filter(({ createdAt }) => o.now - createdAt >= JOINING_MS);
  const warned = current.warnings.length === 0 ? '' : `Prometheus warns: ${named(current.warnings)}`;
  const unattributed = describeUnattributed(current);
  if (due.length > 0) {
    const found = [describeUnmeasured(due, current), lagRemark(current), warned, ...unattributed].filter(
      (part) => part !== '',
    );
    return draft('False', none ? Reason.NoData : Reason.PartialData, `${found.join('; ')}${remark}${obstacles(o)}`);
  }
  if (total > 0 && notMeasurable === total) {
    return draft('False', Reason.NoData, `no node can be measured${remark}`);
  }
  if (warned !== '') return draft('False', Reason.PartialData, [warned, ...unattributed].join('; '));
  if (windowIsTooShort(current)) {
    const message = `the rate window holds fewer than ${LEAST_SAMPLES_PER_WINDOW} scrapes; lengthen --window or scrape more often`;
    return draft('False', Reason.WindowTooShort, message);
  }
  return undefined;
}

function lagRemark(current: Snapshot): string {
  const seconds = tellingLag(current);
  return seconds === undefined ? '' : `samples reach Prometheus ${seconds} s late or more, and figures are as old`;
}

function driversRemark(o: Observation): string {
  const nodes = o.view.figures.withoutDrivers;
  if (nodes.length === 0) return '';
  return `no drivers reported for ${named(nodes)}: only names, links and flags distinguish virtual devices from physical ones; enable node-exporter's --collector.ethtool`;
}

function unread(why: Unread): Draft {
  if (why === 'NotAsked')
    return draft('Unknown', Reason.NotAskedYet, 'no pass has evaluated this direction, measure and devices yet');
  const message =
    'the last pass had no time left for this direction, measure, devices and capacity, so labels are unchanged: let TrafficWatches share them, and use simpler patterns in devices';
  return draft('Unknown', Reason.NotEvaluated, message);
}

function metricsAvailable(o: Observation): Draft {
  const [current] = o.view.passes;
  if (!current) return draft('Unknown', Reason.NotAskedYet, 'Prometheus has not been queried yet');
  if (current.unread !== undefined) return unread(current.unread);
  if (!current.ok) {
    const message = `the last pass over Prometheus failed; labels are unchanged${obstacles(o)}`;
    return draft('False', Reason.NoData, message);
  }
  if (selectsNone(o.view)) return draft('True', Reason.NoNodeSelected, NONE_SELECTED);
  const unmeasured = unmeasuredOf(o);
  const problem = dataProblems(o, current, unmeasured);
  if (problem) return problem;
  const examples = named([...current.unmatchedExamples, ...current.ambiguousExamples]);
  const selected = o.view.outside.length === 0 ? '' : 'selected ';
  const measurable = o.notMeasurable.size === 0 ? '' : 'measurable ';
  const remarks = [
    `all ${selected}${measurable}nodes have data${unmeasured.remark}`,
    named(o.view.figures.capacityDrops),
    lagRemark(current),
    driversRemark(o),
    examples && `series that belong to no node, or to several: ${examples}`,
  ];
  return draft('True', Reason.AllMeasured, remarks.filter((remark) => remark !== '').join('; '));
}

/** MetricsAvailable between the first and the second good pass. Keeps the reason, so that no event is emitted. */
function notYetAvailable({ reason }: Condition): Draft {
  return draft('False', reason, 'all nodes have data again; waiting for one more measurement');
}

function confirmedAvailable(o: Observation, before: Condition | undefined, available: Draft): Draft {
  if (before === undefined || available.status !== 'True' || isBackForGood(o, before)) return available;
  return notYetAvailable(before);
}

/** The counts move: see steadyBreaker. In the cooldown there are none, and the time is absolute. */
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
 * up. It means that verdicts were decided once and the TrafficWatch is not Stalled, not that the last pass succeeded,
 * so it stays True through restarts and outages. Messages contain no figure that changes from pass to pass, so that
 * an unchanged state causes no write.
 *
 * @param now RFC 3339; becomes the lastTransitionTime of conditions whose status changes
 */
export function decideConditions(o: Observation, plan: Plan, failures: readonly Failure[], now: string): Condition[] {
  const before = (o.watch.status?.conditions ?? []).filter((condition) => !isDropped(o, condition));
  const wasAvailable = before.find(({ type }) => type === ConditionType.MetricsAvailable);
  const drafts: [string, Draft][] = [
    [ConditionType.Ready, ready(o, plan)],
    [ConditionType.Reconciling, reconciling(o, plan, failures)],
    [ConditionType.Stalled, stalled(plan)],
    [ConditionType.PrometheusReachable, prometheusReachable(o.view.passes[0])],
    [ConditionType.MetricsAvailable, confirmedAvailable(o, wasAvailable, metricsAvailable(o))],
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
