import { Gauge, Histogram, type Registry } from 'prom-client';
import type { NotMeasurable } from '../../nodes/notMeasurable.ts';
import type { Verdict } from '../../api/trafficwatch/schema.ts';
import { countVerdicts, type VerdictCounts } from './decide/verdict/counts.ts';
import type { NodeVerdict } from './decide/verdict/nodeVerdict.ts';
import type { NodeView } from './observe/observation.ts';

/** Seconds. A pass over ten thousand nodes takes a quarter of one; their first labels half a minute. */
const SETTLED_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * For how many nodes of each TrafficWatch there are series. When a pass fails, every node is unknown to every
 * TrafficWatch: series for all of them would take more memory than the operator has. The counts speak of all nodes.
 */
export const MAX_NODES_SHOWN = 500;

/** The verdicts of nodes, in their order, and their counts; none when nothing was decided. */
export interface DecidedNodes {
  readonly verdicts: readonly NodeVerdict[];
  readonly counts: VerdictCounts;
}

/** What the verdicts look like from outside. */
export interface TrafficWatchMetrics {
  /**
   * @param key namespace/name
   * @param decided of the nodes, in their order
   */
  record(key: string, nodes: readonly Pick<NodeView, 'name'>[], decided: DecidedNodes): void;
  /** What the leader found for the status of the TrafficWatch `key`. */
  ready(key: string, ready: boolean): void;
  /** The nodes without figures that can have none, by name. */
  notMeasurable(found: ReadonlyMap<string, NotMeasurable>): void;
  /** Seconds from the start of a pass until nothing that it led to was left to do. */
  passSettled(seconds: number): void;
  forget(key: string): void;
}

/** Node name -> the value of its series. */
type Shown = ReadonlyMap<string, number>;

const NONE: ReadonlyMap<string, number> = new Map();

interface WatchLabels {
  readonly namespace: string;
  readonly trafficwatch: string;
}

function watchLabels(key: string): WatchLabels {
  const [namespace = '', trafficwatch = ''] = key.split('/');
  return { namespace, trafficwatch };
}

/**
 * The nodes that have a series: unfit ones first, since of the others nothing is known. One that had it keeps it, so
 * that an alert on it goes on when there are more than there is room for.
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

/**
 * traffic_operator_trafficwatch_nodes{trafficwatch,namespace,verdict}: how many nodes got which verdict.
 *
 * traffic_operator_node_unfit{trafficwatch,namespace,node}: 1 for an unfit node, NaN for one that nothing is known of;
 * fit nodes have no series, so that the number of series follows what is wrong and not the size of the cluster.
 */
function createVerdictGauges(registry: Registry): Pick<TrafficWatchMetrics, 'record'> {
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
      `Limited to ${MAX_NODES_SHOWN} nodes for each TrafficWatch, unfit nodes first.`,
    labelNames: ['trafficwatch', 'namespace', 'node'],
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
      // The three verdicts are always there; the exception only where there is one.
      if (isDecided && (count > 0 || verdict !== 'NotMeasurable')) nodesByVerdict.set(labels, count);
      else nodesByVerdict.remove(labels);
    }
  };
  return {
    record: (key, nodes, decided) => {
      const { counts, verdicts } = decided;
      const shownCounts = { ...counts, Unknown: counts.Unknown - counts.NotMeasurable };
      showCounts(key, shownCounts, verdicts.length > 0);
      const before = shownBefore.get(key) ?? NONE;
      showNodes(key, before, shownNodes(nodes, decided, before));
    },
  };
}

/** traffic_operator_node_not_measurable{node,reason}: 1; an exporter there that does not answer is no news. */
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

/**
 * Beside those of the verdicts:
 *
 * traffic_operator_trafficwatch_ready{trafficwatch,namespace}: `status.ready` as a number, in the replica that leads.
 *
 * traffic_operator_pass_settled_seconds: how old passes were when all TrafficWatches had followed them.
 */
export function createTrafficWatchMetrics(registry: Registry): TrafficWatchMetrics {
  const { record } = createVerdictGauges(registry);
  const readiness = new Gauge({
    name: 'traffic_operator_trafficwatch_ready',
    help: '1 if a TrafficWatch is ready, 0 if not. Only the leader reports it.',
    labelNames: ['trafficwatch', 'namespace'],
    registers: [registry],
  });
  const settled = new Histogram({
    name: 'traffic_operator_pass_settled_seconds',
    help: 'Time from the start of a pass until every TrafficWatch was reconciled with its result, writes included.',
    buckets: SETTLED_BUCKETS,
    registers: [registry],
  });
  const forget = (key: string): void => {
    record(key, [], { verdicts: [], counts: countVerdicts([]) });
    readiness.remove(watchLabels(key));
  };
  return {
    record,
    ...createNotMeasurableGauge(registry),
    forget,
    ready: (key, ready) => readiness.set(watchLabels(key), ready ? 1 : 0),
    passSettled: (seconds) => settled.observe(seconds),
  };
}
