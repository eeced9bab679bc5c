import type { Verdict } from '../src/api/trafficwatch/schema.ts';
import { MAX_NODES_SHOWN } from '../src/controllers/trafficwatch/metrics.ts';
import { DEFAULT_EXCLUDED_DEVICES, VLAN_NAME } from '../src/usage/evaluate/devices.ts';
import { quotePromQL } from '../src/usage/pass/queries.ts';

/**
 * The expressions that several panels are made of. `$job`, `$node` and so on are the dashboards' variables; none of
 * them names a job, since that is called otherwise in every Prometheus.
 */

/** A series of the operator's own pods. */
export function own(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['job=~"$job"', ...matchers].join(',')}}`;
}

/** By how much a counter of the operator's own pods grows in a second. */
export function rate(metric: string, ...matchers: readonly string[]): string {
  return `rate(${own(metric, ...matchers)}[$__rate_interval])`;
}

/** A quantile of one of the operator's own histograms, over all replicas. */
export function quantile(q: number, histogram: string, by: readonly string[], ...matchers: readonly string[]): string {
  return `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (${rate(`${histogram}_bucket`, ...matchers)}))`;
}

/** The part of a vector that comes from the leader: it alone writes, a standby's view may be another for a moment. */
export function ofLeader(vector: string): string {
  return `(${vector} and on (job, instance) (${own('traffic_operator_leader')} == 1))`;
}

/** What `orZero` adds; apart, so that tests can ask without it. */
export const ZERO = ` or on () 0 * max(${own('traffic_operator_leader')})`;

/**
 * Zero where the expression has no series, such as for a counter of what never happened; only as long as the operator
 * is scraped, since a number for lack of data would be a lie.
 */
export function orZero(expression: string): string {
  return expression + ZERO;
}

/** How many nodes got a verdict from the one TrafficWatch that meets the matchers. */
export function countOf(verdict: Verdict, ...matchers: readonly string[]): string {
  const series = own('traffic_operator_trafficwatch_nodes', ...matchers, `verdict="${verdict}"`);
  return `max ${ofLeader(series)}`;
}

/** 1 for an unfit node, NaN for one that nothing is known of; by TrafficWatch and node. */
export function verdicts(...matchers: readonly string[]): string {
  const series = ofLeader(own('traffic_operator_node_unfit', ...matchers));
  return `max by (namespace, trafficwatch, node) ${series}`;
}

export function unfit(...matchers: readonly string[]): string {
  return `(${verdicts(...matchers)} == 1)`;
}

/** NaN equals nothing, itself included. */
export function unknown(...matchers: readonly string[]): string {
  return `(${verdicts(...matchers)} != ${verdicts(...matchers)})`;
}

/** Something where a TrafficWatch has more nodes that are not fit than there are series for. */
export function tooMany(...matchers: readonly string[]): string {
  const notFit = ofLeader(own('traffic_operator_trafficwatch_nodes', ...matchers, 'verdict!="Fit"'));
  return `(max(sum by (namespace, trafficwatch) ${notFit}) > ${MAX_NODES_SHOWN})`;
}

/** Nothing where what the series of single nodes say would be a number that is too low. */
export function unlessTooMany(expression: string, ...matchers: readonly string[]): string {
  return `(${expression}) unless on () ${tooMany(...matchers)}`;
}

/** The same expression as it was: puts an offset behind each of its selectors. */
export function ago(expression: string, duration: string): string {
  return expression.replaceAll('}', `} offset ${duration}`);
}

/** How full each node's network is, as the operator judges it; nothing for a node without a figure. */
export function ratioByNode(...matchers: readonly string[]): string {
  return `max by (node) ${ofLeader(own('traffic_operator_node_bandwidth_ratio', ...matchers))}`;
}

/** The nodes of the cluster, as the operator's cache has them. */
export const NODE_COUNT = `max ${ofLeader(own('traffic_operator_reflector_objects', 'resource="nodes"'))}`;

const COUNTED = `device!~${quotePromQL(`lo|${DEFAULT_EXCLUDED_DEVICES}|${VLAN_NAME}`)}`;

/** IFF_SLAVE, 0x800: what is beneath a bond, which repeats its traffic. PromQL has no bit operations. */
function notSlaves(vector: string, matchers: string): string {
  return `${vector} unless on (node, instance, device) (floor(node_network_flags{${matchers}} / 2048) % 2 == 1)`;
}

/**
 * The sum over a node's devices that count by name, bonds without what is beneath them. Series of an exporter that
 * gives no `node` label are known by the host in `instance`.
 *
 * @param vector makes the series of the devices that meet the matchers
 */
function sumByNode(vector: (matchers: string) => string): string {
  const of = (matchers: string): string => notSlaves(vector(`${matchers},${COUNTED}`), matchers);
  const named = of('node=~"$node",node!=""');
  const unnamed = of('node="",instance=~"(?:$node)(?::[0-9]+)?"');
  return `sum by (node) ((${named}) or label_replace(${unnamed}, "node", "$1", "instance", "(.+?)(?::[0-9]+)?"))`;
}

/** Bytes per second that each node sends. */
export const TRANSMITTED = sumByNode(
  (matchers) => `rate(node_network_transmit_bytes_total{${matchers}}[$__rate_interval])`,
);

/** Bytes per second that each node could send. A device that is down says -125000, some virtual ones 0. */
export const CAPACITY = sumByNode((matchers) => `node_network_speed_bytes{${matchers}} > 0`);
