import { Reason, ConditionType } from '../../../../api/trafficwatch/reasons.ts';
import { cut, firstOf, type Condition } from '../../../../runtime/controller/conditions.ts';
import {
  clockOffsetMinutes,
  LEAST_SAMPLES_PER_WINDOW,
  LATE_SECONDS,
  tellingLag,
  windowIsTooShort,
  describeUnattributed,
  type Snapshot,
  type Unread,
} from '../../../../usage/evaluate/snapshot.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import { passFailureReason } from '../verdict/verdict.ts';
import { selectsNone } from '../plan.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';

/** A condition without its type and times. */
export type Draft = Pick<Condition, 'status' | 'reason' | 'message'>;

export const draft = (status: Condition['status'], reason: string, message: string): Draft => ({
  status,
  reason,
  message,
});

/** An empty node group is no error: autoscalers scale it up again. But the selector may also be misspelt. */
export const NONE_SELECTED = 'spec.nodeSelector selects no node: no node is judged, and pods may run on any node';

/**
 * The conditions about the measurement: whether Prometheus answers, and whether the nodes have data.
 * @param before MetricsAvailable of the last status
 */
export function measurementConditions(o: Observation, before: Condition | undefined): [string, Draft][] {
  return [
    [ConditionType.PrometheusReachable, prometheusReachable(o.view.passes[0])],
    [ConditionType.MetricsAvailable, confirmedAvailable(o, before, metricsAvailable(o))],
  ];
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

/** Maximum number of measurement problems in a message. */
const PROBLEMS_AT_MOST = 3;

/**
 * How long a new node may be without figures before that is a problem: ms. Its first scrape comes within 20 s, and a
 * rate needs more than one scrape.
 */
const JOINING_MS = 60_000;

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
    const found = [describeUnmeasured(due, current), lagRemark(o, current), warned, ...unattributed].filter(
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

function lagRemark({ view }: Observation, current: Snapshot): string {
  const seconds = tellingLag(current);
  if (seconds !== undefined) return `samples reach Prometheus ${seconds} s late or more, and figures are as old`;
  const names = named(view.figures.late);
  return names && `samples of ${names} reach Prometheus ${LATE_SECONDS} s late or more, and their figures are as old`;
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
    lagRemark(o, current),
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

/** Maximum number of nodes or series that a message names. It only counts the others. */
const NAMED_AT_MOST = 5;
/** Maximum number of reasons that the message of a condition explains. */
const EXPLAINED_AT_MOST = 3;

/** Maximum length of the text of one problem, in characters, with the "…" at its end: it may quote labels of others. */
export const LONGEST_PROBLEM = 601;

/** Joins the first names, and counts the others. */
export function named(list: readonly string[]): string {
  return firstOf(list, NAMED_AT_MOST);
}

/**
 * Names the nodes without figures and their reasons, then says of the first node of each reason what is wrong and what to do:
 * "no data for a (NoCapacity), b (NoSeries); a: the capacity is unknown …". NoSeries has nothing to add.
 */
export function describeUnmeasured(nodes: readonly Pick<NodeView, 'name'>[], { nodes: usages }: Snapshot): string {
  const those = nodes.map(({ name }) => ({ name, ...explained(usages.get(name)) }));
  those.sort((a, b) => (a.name < b.name ? -1 : 1));
  const first = new Map<string, string>();
  for (const { name, reason, message } of those) {
    if (reason !== 'NoSeries' && message !== undefined && !first.has(reason))
      first.set(reason, `${name}: ${cut(message, LONGEST_PROBLEM)}`);
  }
  const names = named(those.map(({ name, reason }) => `${name} (${reason})`));
  return [`no data for ${names}`, ...[...first.values()].slice(0, EXPLAINED_AT_MOST)].join('; ');
}

function explained(usage: NodeUsage | undefined): Pick<NodeUsage, 'reason' | 'message'> {
  return usage ?? { reason: 'NoSeries' };
}

/** True if the pass before the newest had figures for every node that can be measured, and no warning. */
function wasWhole(o: Observation, previous: Snapshot): boolean {
  if (!previous.ok || previous.warnings.length > 0 || windowIsTooShort(previous)) return false;
  // A node that joined since that pass is not in the snapshot, and does not count as missing.
  const isKnown = ({ name }: { name: string }): boolean => previous.nodes.has(name) && !o.notMeasurable.has(name);
  return o.view.figures.measured.every(({ node, passes }) => passes[1]?.percent !== undefined || !isKnown(node));
}

/** True if the problem began with the pass before the newest. Condition times are in whole seconds. */
function isOfOnePass({ lastTransitionTime }: Condition, previous: Snapshot): boolean {
  return Date.parse(lastTransitionTime) >= Math.floor(previous.startedAt / 1000) * 1000;
}

/**
 * Whether MetricsAvailable may become True again after a pass with complete figures. After an outage about as long as
 * the rate window, figures are complete for a moment: the window still holds the last scrapes from before the outage.
 * Then they are missing until there are two new scrapes.
 *
 * | MetricsAvailable was  | since              | previous pass            | may become True |
 * |-----------------------|--------------------|--------------------------|-----------------|
 * | True, Unknown, absent | any                | any                      | yes             |
 * | False                 | the previous pass  | any                      | yes             |
 * | False                 | longer             | complete                 | yes             |
 * | False                 | longer             | incomplete, or not known | not yet         |
 */
function isBackForGood(o: Observation, before: Condition | undefined): boolean {
  if (before?.status !== 'False') return true;
  const [, previous] = o.view.passes;
  return previous !== undefined && (isOfOnePass(before, previous) || wasWhole(o, previous));
}
