import { Gauge, type Registry } from 'prom-client';
import type { NodeVerdict } from './decide/verdict.ts';

/** What the verdicts look like from outside. */
export interface TrafficWatchMetrics {
  /** @param key namespace/name */
  record(key: string, verdicts: ReadonlyMap<string, NodeVerdict>): void;
  /** What the leader found for the status of the TrafficWatch `key`. */
  ready(key: string, ready: boolean): void;
  forget(key: string): void;
}

/**
 * traffic_operator_node_unfit{trafficwatch,namespace,node}: 1 for an unfit node, NaN for one that nothing is known of;
 * fit nodes have no series, so that the number of series follows what is wrong and not the size of the cluster.
 *
 * traffic_operator_trafficwatch_ready{trafficwatch,namespace}: `status.ready` as a number, in the replica that leads.
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
  const shown = new Map<string, Set<string>>();

  const watchLabels = (key: string) => {
    const [namespace = '', trafficwatch = ''] = key.split('/');
    return { namespace, trafficwatch };
  };
  const labels = (key: string, node: string) => ({ ...watchLabels(key), node });
  const record = (key: string, verdicts: ReadonlyMap<string, NodeVerdict>): void => {
    const now = new Set<string>();
    for (const [node, { verdict }] of verdicts) {
      if (verdict === 'Fit') continue;
      now.add(node);
      gauge.set(labels(key, node), verdict === 'Unfit' ? 1 : NaN);
    }
    for (const node of shown.get(key) ?? []) if (!now.has(node)) gauge.remove(labels(key, node));
    if (now.size > 0) shown.set(key, now);
    else shown.delete(key);
  };
  const forget = (key: string): void => {
    record(key, new Map());
    readiness.remove(watchLabels(key));
  };
  return { record, forget, ready: (key, ready) => readiness.set(watchLabels(key), ready ? 1 : 0) };
}
