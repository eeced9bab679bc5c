import { Gauge, Histogram, type Registry } from 'prom-client';
import type { NodeVerdict } from './decide/verdict.ts';
import type { NodeView } from './observation.ts';

/** Seconds. A pass over ten thousand nodes takes a quarter of one; their first labels half a minute. */
const SETTLED_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What the verdicts look like from outside. */
export interface TrafficWatchMetrics {
  /**
   * @param key namespace/name
   * @param verdicts of the nodes, in their order
   */
  record(key: string, nodes: readonly Pick<NodeView, 'name'>[], verdicts: readonly NodeVerdict[]): void;
  /** What the leader found for the status of the TrafficWatch `key`. */
  ready(key: string, ready: boolean): void;
  /** Seconds from the start of a pass until nothing that it led to was left to do. */
  passSettled(seconds: number): void;
  forget(key: string): void;
}

/**
 * traffic_operator_node_unfit{trafficwatch,namespace,node}: 1 for an unfit node, NaN for one that nothing is known of;
 * fit nodes have no series, so that the number of series follows what is wrong and not the size of the cluster.
 *
 * traffic_operator_trafficwatch_ready{trafficwatch,namespace}: `status.ready` as a number, in the replica that leads.
 *
 * traffic_operator_pass_settled_seconds: how old passes were when all TrafficWatches had followed them.
 */
export function createTrafficWatchMetrics(registry: Registry): TrafficWatchMetrics {
  const gauge = new Gauge({
    name: 'traffic_operator_node_unfit',
    help: '1 where a TrafficWatch finds a node unfit, NaN where it knows nothing of it; absent where the node is fit.',
    labelNames: ['trafficwatch', 'namespace', 'node'],
    registers: [registry],
  });
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
  const shown = new Map<string, Set<string>>();

  const watchLabels = (key: string) => {
    const [namespace = '', trafficwatch = ''] = key.split('/');
    return { namespace, trafficwatch };
  };
  const labels = (key: string, node: string) => ({ ...watchLabels(key), node });
  const record: TrafficWatchMetrics['record'] = (key, nodes, verdicts) => {
    const now = new Set<string>();
    verdicts.forEach(({ verdict }, place) => {
      const node = nodes[place]?.name;
      if (verdict === 'Fit' || node === undefined) return;
      now.add(node);
      gauge.set(labels(key, node), verdict === 'Unfit' ? 1 : NaN);
    });
    for (const node of shown.get(key) ?? []) if (!now.has(node)) gauge.remove(labels(key, node));
    if (now.size > 0) shown.set(key, now);
    else shown.delete(key);
  };
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
