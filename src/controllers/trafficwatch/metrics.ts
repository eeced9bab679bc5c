import { isDeepStrictEqual } from 'node:util';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { NotMeasurable } from '../../nodes/notMeasurable.ts';
import {
  silentBudgets,
  type CreateBudget,
  type NamedSeries,
  type SeriesBudget,
  type SeriesLimits,
} from '../../runtime/manager/seriesBudget.ts';
import type { Direction, Measure } from '../../api/trafficwatch/spec/reading.ts';
import type { CapacitySource } from '../../usage/evaluate/percent.ts';
import type { Mode } from '../../api/trafficwatch/spec/mode.ts';
import type { Verdict } from '../../api/trafficwatch/statusSchema.ts';
import type { Breaker } from './decide/verdict/breaker.ts';
import type { BlockedDecision } from './decide/workload/blockedPods.ts';
import { countVerdicts, type VerdictCounts, type NodeVerdict } from './decide/verdict/nodeVerdict.ts';
import type { LimitProblem, NodeView } from './observe/observation.ts';

/** Seconds. A pass over ten thousand nodes takes a quarter of a second, their first labels half a minute. */
const SETTLED_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Maximum number of nodes with series for each TrafficWatch. When a pass fails, every node is unknown for every
 * TrafficWatch, and series for all of them would need more memory than the operator has. The counts cover all nodes.
 */
export const MAX_NODES_SHOWN = 500;

/** How many TrafficWatches are decided: the oldest of a namespace, and of the cluster. */
type MostDecided = Readonly<Record<'perNamespace' | 'inCluster', number>>;

/** As the flags have it by default. */
const MOST_DECIDED: MostDecided = { perNamespace: 200, inCluster: 2_000 };

/** New names within three hours for each TrafficWatch that is decided: half of them may be replaced. */
const NAMES_OF_EACH = 1.5;

/**
 * Returns how many TrafficWatches have series within three hours: all that are decided, however they are spread over namespaces. Each has
 * at most 13 series besides its nodes, and one more for each of the 16 combinations that its `info` can have.
 */
function mostShown({ perNamespace, inCluster }: MostDecided): SeriesLimits {
  const ofOwner = Math.ceil(NAMES_OF_EACH * Math.min(perNamespace, inCluster));
  // A namespace gets no more than what is free for all: it needs its own number free when all others have theirs.
  return { ofOwner, ofAll: Math.ceil(NAMES_OF_EACH * inCluster) + ofOwner };
}

/** Series of unfit nodes within three hours, of all TrafficWatches of a namespace, and of all. */
const MOST_UNFIT = { ofOwner: 2_000, ofAll: 18_000 };
/** The same of unknown nodes. A failed pass makes all nodes unknown: their places are none of those that unfit nodes need later. */
const MOST_UNKNOWN = { ofOwner: 500, ofAll: 2_000 };

/** The verdicts in the order of the nodes, and their counts. Empty if nothing was decided. */
export interface DecidedNodes {
  readonly verdicts: readonly NodeVerdict[];
  readonly counts: VerdictCounts;
  /** Undefined without a limit for unfit nodes. */
  readonly breaker?: Pick<Breaker, 'held'> | 'Unchanged' | undefined;
  readonly blocked?: BlockedDecision | undefined;
}

/** Fields of a spec that dashboards show. */
export interface WatchInfo {
  readonly mode: Mode;
  readonly direction: Direction;
  readonly measure: Measure;
}

/** The metrics of TrafficWatches. */
export interface TrafficWatchMetrics {
  /**
   * Records the verdicts of one TrafficWatch.
   * @param key namespace/name
   * @param decided the verdicts in the order of `nodes`
   */
  record(key: string, nodes: readonly Pick<NodeView, 'name'>[], decided: DecidedNodes): void;
  /** Records how many nodes of the TrafficWatch `key` have a capacity from each source. */
  capacitySources(key: string, counts: ReadonlyMap<CapacitySource, number>): void;
  /** Records what the spec of the TrafficWatch `key` asks for. */
  info(key: string, info: WatchInfo): void;
  /** Records `status.ready` of the TrafficWatch `key` (namespace/name). Only the leader calls it. */
  ready(key: string, ready: boolean): void;
  /**
   * Replaces the series of the TrafficWatch `key`, which is beyond a limit: however many are, they share one for their namespace and reason.
   * @param reason undefined if this is not the leader
   */
  beyondLimit(key: string, reason: LimitProblem['reason'] | undefined): void;
  /** Records how many TrafficWatches are beyond the limits, and the bytes of the labels on each Node. */
  limits(beyond: number, labelBytes: number): void;
  /** Records the nodes that cannot be measured, by name. */
  notMeasurable(found: ReadonlyMap<string, NotMeasurable>): void;
  /** Records the seconds from the start of a pass until all TrafficWatches were reconciled with its result. */
  passSettled(seconds: number): void;
  /** Drops all series of the TrafficWatch `key`. */
  forget(key: string): void;
}

/** Node name -> the value of its series. */
type Shown = ReadonlyMap<string, number>;

const NONE: ReadonlyMap<string, number> = new Map();
const NONE_KNOWN: ReadonlyMap<CapacitySource, number> = new Map();

interface WatchLabels {
  readonly namespace: string;
  readonly trafficwatch: string;
}

function watchLabels(key: string): WatchLabels {
  const [namespace = '', trafficwatch = ''] = key.split('/');
  return { namespace, trafficwatch };
}

/**
 * Chooses the nodes that have a series: unfit nodes, then unknown ones. A node that already has a series keeps it, so
 * that an alert on it does not resolve if there are more nodes than MAX_NODES_SHOWN.
 */
function shownNodes(
  nodes: readonly Pick<NodeView, 'name'>[],
  { verdicts, counts }: DecidedNodes,
  before: Shown,
): Shown {
  const shown = new Map<string, number>();
  const show = (wanted: Verdict, value: number): void => {
    const most = Math.min(MAX_NODES_SHOWN, shown.size + counts[wanted]);
    for (const isTurnOf of [(name: string) => Object.is(before.get(name), value), () => true]) {
      for (let place = 0; place < nodes.length && shown.size < most; place += 1) {
        const name = nodes[place]?.name;
        if (name !== undefined && verdicts[place]?.verdict === wanted && isTurnOf(name)) shown.set(name, value);
      }
    }
  };
  show('Unfit', 1);
  show('Unknown', NaN);
  return shown;
}

/** The budgets of the series of nodes. */
type NodeBudgets = Readonly<Record<'unfit' | 'unknown', SeriesBudget>>;

/** Leaves the nodes whose series have a place in the budgets of the namespace. */
function withinBudgets({ unfit, unknown }: NodeBudgets, key: string, shown: Shown): Shown {
  const owner = watchLabels(key).namespace;
  const wanted = function* (isUnfit: boolean): Generator<NamedSeries> {
    for (const [id, value] of shown) if (isUnfit === (value === 1)) yield { owner, id };
  };
  const placed = { unfit: unfit.show(key, wanted(true)), unknown: unknown.show(key, wanted(false)) };
  if (placed.unfit.size + placed.unknown.size === shown.size) return shown;
  return new Map([...shown].filter(([node, value]) => (value === 1 ? placed.unfit : placed.unknown).has(node)));
}

/**
 * traffic_operator_trafficwatch_nodes{trafficwatch,namespace,verdict}: the number of nodes for each verdict.
 *
 * traffic_operator_node_unfit{trafficwatch,namespace,node}: 1 for an unfit node, NaN for an unknown node. Fit nodes
 * have no series, so that the number of series depends on the number of problems, not on the size of the cluster.
 */
function createVerdictGauges(registry: Registry, budgets: NodeBudgets): Pick<TrafficWatchMetrics, 'record'> {
  const nodesByVerdict = new Gauge({
    name: 'traffic_operator_trafficwatch_nodes',
    help: 'Nodes by the verdict of a TrafficWatch: Fit, Unfit, Unknown, or NotMeasurable if the node cannot be measured.',
    labelNames: ['trafficwatch', 'namespace', 'verdict'],
    registers: [registry],
  });
  const unfit = new Gauge({
    name: 'traffic_operator_node_unfit',
    help:
      '1 if a TrafficWatch finds a node unfit, NaN if the node is unknown, absent if the node is fit. ' +
      `Limited to ${MAX_NODES_SHOWN} nodes for each TrafficWatch and, within three hours, ` +
      `${MOST_UNFIT.ofOwner} unfit and ${MOST_UNKNOWN.ofOwner} unknown nodes for each namespace.`,
    labelNames: ['trafficwatch', 'namespace', 'node'],
    registers: [registry],
  });
  const held = new Gauge({
    name: 'traffic_operator_trafficwatch_held_nodes',
    help: 'Nodes that maxUnfit or minFit keeps from being unfit. Above 0 the breaker is open. Absent without a limit.',
    labelNames: ['trafficwatch', 'namespace'],
    registers: [registry],
  });
  const blockedPods = new Gauge({
    name: 'traffic_operator_trafficwatch_blocked_pods',
    help: 'Pods that find no node since nodes are unfit: status.blockedPods. Absent with placement Preferred, and while pods cannot be read.',
    labelNames: ['trafficwatch', 'namespace'],
    registers: [registry],
  });
  const shownBefore = new Map<string, Shown>();

  const showNodes = (key: string, before: Shown, now: Shown): void => {
    const labels = watchLabels(key);
    for (const node of before.keys()) if (!now.has(node)) unfit.remove({ ...labels, node });
    for (const [node, value] of now) if (!Object.is(before.get(node), value)) unfit.set({ ...labels, node }, value);
    if (now.size > 0) shownBefore.set(key, now);
    else shownBefore.delete(key);
  };
  const showCounts = (key: string, counts: Readonly<Record<string, number>>, isDecided: boolean): void => {
    for (const [verdict, count] of Object.entries(counts)) {
      const labels = { ...watchLabels(key), verdict };
      // Fit, Unfit and Unknown always have a series; NotMeasurable only if its count is not 0.
      if (isDecided && (count > 0 || verdict !== 'NotMeasurable')) nodesByVerdict.set(labels, count);
      else nodesByVerdict.remove(labels);
    }
  };
  const showBlocked = (key: string, blocked: BlockedDecision | undefined): void => {
    if (blocked?.kind === 'NotRead') return;
    if (blocked?.kind === 'Known') blockedPods.set(watchLabels(key), blocked.pods?.count ?? 0);
    else blockedPods.remove(watchLabels(key));
  };
  return {
    record: (key, nodes, decided) => {
      const { counts, verdicts } = decided;
      const shownCounts = { ...counts, Unknown: counts.Unknown - counts.NotMeasurable };
      showCounts(key, shownCounts, verdicts.length > 0);
      const before = shownBefore.get(key) ?? NONE;
      showNodes(key, before, withinBudgets(budgets, key, shownNodes(nodes, decided, before)));
      if (decided.breaker === undefined) held.remove(watchLabels(key));
      else if (decided.breaker !== 'Unchanged') held.set(watchLabels(key), decided.breaker.held);
      showBlocked(key, decided.blocked);
    },
  };
}

/** traffic_operator_node_not_measurable{node,reason}: 1. Alerts about exporters that are down leave these nodes out. */
function createNotMeasurableGauge(registry: Registry): Pick<TrafficWatchMetrics, 'notMeasurable'> {
  const gauge = new Gauge({
    name: 'traffic_operator_node_not_measurable',
    help: `1 if a node cannot be measured, for example because it is powered off. Limited to ${MAX_NODES_SHOWN} nodes.`,
    labelNames: ['node', 'reason'],
    registers: [registry],
  });
  let shown: ReadonlyMap<string, NotMeasurable> | undefined;
  return {
    notMeasurable: (found) => {
      if (found === shown) return;
      shown = found;
      gauge.reset();
      for (const [node, { reason }] of [...found].slice(0, MAX_NODES_SHOWN)) gauge.set({ node, reason }, 1);
    },
  };
}

/** traffic_operator_trafficwatch_capacity_source_nodes{trafficwatch,namespace,source}: a source of no node has no series. */
function createCapacityGauge(registry: Registry): Pick<TrafficWatchMetrics, 'capacitySources'> {
  const gauge = new Gauge({
    name: 'traffic_operator_trafficwatch_capacity_source_nodes',
    help:
      'Nodes with a figure in the newest pass of a TrafficWatch, by the source of their capacity, as in its status: ' +
      'Spec, Annotation, Label, ActiveSlaves or Series. Absent without such a node.',
    labelNames: ['trafficwatch', 'namespace', 'source'],
    registers: [registry],
  });
  const shown = new Map<string, ReadonlyMap<CapacitySource, number>>();
  return {
    capacitySources: (key, counts) => {
      const before = shown.get(key);
      if (before === counts) return;
      for (const source of before?.keys() ?? []) if (!counts.has(source)) gauge.remove({ ...watchLabels(key), source });
      for (const [source, count] of counts) gauge.set({ ...watchLabels(key), source }, count);
      if (counts.size > 0) shown.set(key, counts);
      else shown.delete(key);
    },
  };
}

/** traffic_operator_trafficwatch_info: always 1; the labels say what the spec asks for. */
function createInfoGauge(registry: Registry): Pick<TrafficWatchMetrics, 'info' | 'forget'> {
  const gauge = new Gauge({
    name: 'traffic_operator_trafficwatch_info',
    help: 'Always 1. The labels hold what the spec of a TrafficWatch asks for.',
    labelNames: ['trafficwatch', 'namespace', 'mode', 'direction', 'measure'],
    registers: [registry],
  });
  const shown = new Map<string, WatchInfo>();
  const forget = (key: string): void => {
    const before = shown.get(key);
    if (before !== undefined) gauge.remove({ ...watchLabels(key), ...before });
    shown.delete(key);
  };
  return {
    info: (key, info) => {
      if (isDeepStrictEqual(shown.get(key), info)) return;
      forget(key);
      gauge.set({ ...watchLabels(key), ...info }, 1);
      shown.set(key, info);
    },
    forget,
  };
}

function createLimitGauges(registry: Registry): Pick<TrafficWatchMetrics, 'limits'> {
  const registers = [registry];
  const beyondLimits = new Gauge({
    name: 'traffic_operator_trafficwatches_beyond_limits',
    help: 'TrafficWatches that are not decided, since their namespace or the cluster has more than the operator decides.',
    registers,
  });
  const bytes = new Gauge({
    name: 'traffic_operator_node_label_bytes',
    help: 'Bytes of the labels, keys and values, that the TrafficWatches which are decided put on each Node they select.',
    registers,
  });
  return {
    limits: (beyond, labelBytes) => {
      beyondLimits.set(beyond);
      bytes.set(labelBytes);
    },
  };
}

/** Namespaces and reasons with a series for TrafficWatches beyond a limit, within three hours. */
const MOST_BEYOND = { ofOwner: 2, ofAll: 2_000 };

/**
 * Shows `(reason)` as a TrafficWatch of the namespace that is not ready, while TrafficWatches are beyond the limit of that reason: alerts about
 * TrafficWatches that are not ready see it, and no TrafficWatch can have such a name.
 */
function createBeyondLimit(readiness: Gauge<'namespace' | 'trafficwatch'>, budget: SeriesBudget) {
  /** The reason of each TrafficWatch beyond a limit. */
  const reasons = new Map<string, string>();
  /** How many TrafficWatches each series stands for. */
  const counts = new Map<string, number>();
  const seriesOf = (key: string, reason: string): string => `${watchLabels(key).namespace}/(${reason})`;
  const count = (series: string, change: number): void => {
    const left = (counts.get(series) ?? 0) + change;
    if (left > 0) counts.set(series, left);
    else counts.delete(series);
    const wanted = left > 0 ? [{ owner: watchLabels(series).namespace, id: '' }] : [];
    if (budget.show(series, wanted).size > 0) readiness.set(watchLabels(series), 0);
    else readiness.remove(watchLabels(series));
  };
  return (key: string, reason: string | undefined): void => {
    const before = reasons.get(key);
    if (before === reason) return;
    reasons.delete(key);
    if (before !== undefined) count(seriesOf(key, before), -1);
    if (reason === undefined) return;
    reasons.set(key, reason);
    count(seriesOf(key, reason), 1);
  };
}

/** Creates the metrics. Users choose the names of TrafficWatches: one without a place in the budget of its namespace has no series. */
export function createTrafficWatchMetrics(
  registry: Registry,
  createBudget: CreateBudget = silentBudgets,
  most: MostDecided = MOST_DECIDED,
): TrafficWatchMetrics {
  const budget = createBudget('TrafficWatch', mostShown(most));
  const { record } = createVerdictGauges(registry, {
    unfit: createBudget('node_unfit', MOST_UNFIT),
    unknown: createBudget('node_unknown', MOST_UNKNOWN),
  });
  const { capacitySources } = createCapacityGauge(registry);
  const { info, forget: forgetInfo } = createInfoGauge(registry);
  const readiness = new Gauge({
    name: 'traffic_operator_trafficwatch_ready',
    help: '1 if a TrafficWatch is ready, 0 if not. All of a namespace beyond a limit share the name (TooManyTrafficWatches) or (TooManyReadings). Only the leader reports it.',
    labelNames: ['trafficwatch', 'namespace'],
    registers: [registry],
  });
  const settled = new Histogram({
    name: 'traffic_operator_pass_settled_seconds',
    help: 'Time from the start of a pass until every TrafficWatch was reconciled with its result, writes included.',
    buckets: SETTLED_BUCKETS,
    registers: [registry],
  });
  const ifPlaced =
    <Rest extends unknown[]>(show: (key: string, ...rest: Rest) => void) =>
    (key: string, ...rest: Rest): void => {
      if (budget.show(key, [{ owner: watchLabels(key).namespace, id: '' }]).size > 0) show(key, ...rest);
    };
  const beyondLimit = createBeyondLimit(readiness, createBudget('TrafficWatch beyond a limit', MOST_BEYOND));
  const showDecided = ifPlaced(record);
  const forget = (key: string): void => {
    record(key, [], { verdicts: [], counts: countVerdicts([]) });
    capacitySources(key, NONE_KNOWN);
    readiness.remove(watchLabels(key));
    forgetInfo(key);
    budget.forget(key);
  };
  return {
    record: (key, ...decided) => {
      beyondLimit(key, undefined);
      showDecided(key, ...decided);
    },
    beyondLimit: (key, reason) => {
      forget(key);
      beyondLimit(key, reason);
    },
    capacitySources: ifPlaced(capacitySources),
    info: ifPlaced(info),
    ready: ifPlaced((key, ready: boolean) => readiness.set(watchLabels(key), ready ? 1 : 0)),
    ...createNotMeasurableGauge(registry),
    ...createLimitGauges(registry),
    forget: (key) => {
      forget(key);
      beyondLimit(key, undefined);
    },
    passSettled: (seconds) => settled.observe(seconds),
  };
}
