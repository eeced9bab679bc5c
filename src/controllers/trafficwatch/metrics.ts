import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Verdict } from '../../api/trafficwatch.ts';
import { countVerdicts, type NodeVerdict } from './decide/verdict.ts';
import type { NodeView } from './observation.ts';

/** Seconds. A pass over ten thousand nodes takes a quarter of one; their first labels half a minute. */
const SETTLED_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * For how many nodes of each TrafficWatch there are series. When a pass fails, every node is unknown to every
 * TrafficWatch: series for all of them would take more memory than the operator has. The counts speak of all nodes.
 */
export const MAX_NODES_SHOWN = 500;

/** What the verdicts look like from outside. */
export interface TrafficWatchMetrics {
  /**
   * @param key namespace/name
   * @param verdicts of the nodes, in their order; none when nothing was decided
   */
  record(key: string, nodes: readonly Pick<NodeView, 'name'>[], verdicts: readonly NodeVerdict[]): void;
  /** What the leader found for the status of the TrafficWatch `key`. */
  ready(key: string, ready: boolean): void;
  /** Seconds from the start of a pass until nothing that it led to was left to do. */
  passSettled(seconds: number): void;
  forget(key: string): void;
}

interface WatchLabels {
  readonly namespace: string;
  readonly trafficwatch: string;
}

function watchLabels(key: string): WatchLabels {
  const [namespace = '', trafficwatch = ''] = key.split('/');
  return { namespace, trafficwatch };
}

/** The nodes that have a series, with its value: unfit ones first, since of the others nothing is known. */
function shownNodes(
  nodes: readonly Pick<NodeView, 'name'>[],
  verdicts: readonly NodeVerdict[],
  counts: Readonly<Record<Verdict, number>>,
): Map<string, number> {
  const shown = new Map<string, number>();
  const show = (wanted: Verdict, value: number): void => {
    const most = Math.min(MAX_NODES_SHOWN, shown.size + counts[wanted]);
    for (let place = 0; place < nodes.length && shown.size < most; place += 1) {
      const name = nodes[place]?.name;
      if (verdicts[place]?.verdict === wanted && name !== undefined) shown.set(name, value);
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
  const nodesBy = new Gauge({
    name: 'traffic_operator_trafficwatch_nodes',
    help: 'Nodes by the verdict of a TrafficWatch: Fit, Unfit or Unknown.',
    labelNames: ['trafficwatch', 'namespace', 'verdict'],
    registers: [registry],
  });
  const unfit = new Gauge({
    name: 'traffic_operator_node_unfit',
    help:
      '1 where a TrafficWatch finds a node unfit, NaN where it knows nothing of it; absent where the node is fit. ' +
      `Of up to ${MAX_NODES_SHOWN} nodes for each TrafficWatch, unfit ones first.`,
    labelNames: ['trafficwatch', 'namespace', 'node'],
    registers: [registry],
  });
  const shownBefore = new Map<string, ReadonlyMap<string, number>>();

  const showNodes = (key: string, now: ReadonlyMap<string, number>): void => {
    const labels = watchLabels(key);
    for (const node of shownBefore.get(key)?.keys() ?? []) if (!now.has(node)) unfit.remove({ ...labels, node });
    for (const [node, value] of now) unfit.set({ ...labels, node }, value);
    if (now.size > 0) shownBefore.set(key, now);
    else shownBefore.delete(key);
  };
  const showCounts = (key: string, counts: Readonly<Record<Verdict, number>>, isDecided: boolean): void => {
    for (const [verdict, count] of Object.entries(counts)) {
      const labels = { ...watchLabels(key), verdict };
      if (isDecided) nodesBy.set(labels, count);
      else nodesBy.remove(labels);
    }
  };
  return {
    record: (key, nodes, verdicts) => {
      const counts = countVerdicts(verdicts);
      showCounts(key, counts, verdicts.length > 0);
      showNodes(key, shownNodes(nodes, verdicts, counts));
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
    help: '1 where a TrafficWatch is ready, 0 where it is not; in the replica that leads.',
    labelNames: ['trafficwatch', 'namespace'],
    registers: [registry],
  });
  const settled = new Histogram({
    name: 'traffic_operator_pass_settled_seconds',
    help: 'Time from the start of a pass until every TrafficWatch was looked at after it, and what that led to was written.',
    buckets: SETTLED_BUCKETS,
    registers: [registry],
  });
  const forget = (key: string): void => {
    record(key, [], []);
    readiness.remove(watchLabels(key));
  };
  return {
    record,
    forget,
    ready: (key, ready) => readiness.set(watchLabels(key), ready ? 1 : 0),
    passSettled: (seconds) => settled.observe(seconds),
  };
}
