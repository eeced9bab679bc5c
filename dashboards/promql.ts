import type { Verdict } from '../src/api/trafficwatch/statusSchema.ts';
import { MAX_NODES_SHOWN } from '../src/controllers/trafficwatch/metrics.ts';
import { BRIDGE_NAME, DEFAULT_EXCLUDED_DEVICES, VLAN_NAME } from '../src/usage/evaluate/devices/devices.ts';
import { usableSpeeds } from '../src/usage/evaluate/speeds.ts';
import { quotePromQL } from '../src/usage/pass/promql.ts';

/**
 * Expressions that several panels use. `$job`, `$node` and so on are variables of the dashboards. No expression
 * contains a job name, because it differs between Prometheus installations.
 */

/** A series of the operator's pods. */
export function own(metric: string, ...matchers: readonly string[]): string {
  return `${metric}{${['job=~"$job"', ...matchers].join(',')}}`;
}

/** Increase per second of a counter of the operator's pods. */
export function rate(metric: string, ...matchers: readonly string[]): string {
  return `rate(${own(metric, ...matchers)}[$__rate_interval])`;
}

/** A quantile of a histogram of the operator, over all replicas. */
export function quantile(q: number, histogram: string, by: readonly string[], ...matchers: readonly string[]): string {
  return `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (${rate(`${histogram}_bucket`, ...matchers)}))`;
}

/** The series of a vector that come from the leader. Only the leader writes; a standby may be behind for a moment. */
export function ofLeader(vector: string): string {
  return `(${vector} and on (job, instance) (${own('traffic_operator_leader')} == 1))`;
}

/** The suffix that `orZero` adds. Exported, so that tests can query without it. */
export const ZERO = ` or on () 0 * max(${own('traffic_operator_leader')})`;

/**
 * Zero if the expression has no series, for example for a counter that was never incremented. Only while the operator
 * is scraped, so that missing data never becomes a number.
 */
export function orZero(expression: string): string {
  return expression + ZERO;
}

/** Number of nodes with a verdict of the TrafficWatch that meets the matchers. */
export function countOf(verdict: Verdict, ...matchers: readonly string[]): string {
  const series = own('traffic_operator_trafficwatch_nodes', ...matchers, `verdict="${verdict}"`);
  return `max ${ofLeader(series)}`;
}

/** 1 for an unfit node, NaN for an unknown node; by TrafficWatch and node. */
export function verdicts(...matchers: readonly string[]): string {
  const series = ofLeader(own('traffic_operator_node_unfit', ...matchers));
  return `max by (namespace, trafficwatch, node) ${series}`;
}

export function unfit(...matchers: readonly string[]): string {
  return `(${verdicts(...matchers)} == 1)`;
}

/** NaN differs from itself. */
export function unknown(...matchers: readonly string[]): string {
  return `(${verdicts(...matchers)} != ${verdicts(...matchers)})`;
}

/** A value if there are more unfit and unknown nodes than series for them; else no value. */
export function tooMany(...matchers: readonly string[]): string {
  const notFit = ofLeader(own('traffic_operator_trafficwatch_nodes', ...matchers, 'verdict!="Fit"'));
  const leftOut = ofLeader(own('traffic_operator_metric_series_left_out', 'kind="node_unfit"'));
  return `(max(sum by (namespace, trafficwatch) ${notFit}) > ${MAX_NODES_SHOWN} or max(${leftOut}) > 0)`;
}

/** No value if the series of single nodes are incomplete, because the number would be too low. */
export function unlessTooMany(expression: string, ...matchers: readonly string[]): string {
  return `(${expression}) unless on () ${tooMany(...matchers)}`;
}

/** The same expression in the past: adds an offset to each of its selectors. */
export function ago(expression: string, duration: string): string {
  return expression.replaceAll('}', `} offset ${duration}`);
}

/** Bandwidth use of each node, as the operator computes it; no value for a node without a figure. */
export function ratioByNode(...matchers: readonly string[]): string {
  return `max by (node) ${ofLeader(own('traffic_operator_node_bandwidth_ratio', ...matchers))}`;
}

/** Number of nodes in the operator's cache. */
export const NODE_COUNT = `max ${ofLeader(own('traffic_operator_reflector_objects', 'resource="nodes"'))}`;

const COUNTED = `device!~${quotePromQL(`lo|${DEFAULT_EXCLUDED_DEVICES}|${BRIDGE_NAME}|${VLAN_NAME}`)}`;

/** Excludes devices with IFF_SLAVE (0x800): the bond repeats their traffic. PromQL has no bit operations. */
function notSlaves(vector: string, matchers: string): string {
  return `${vector} unless on (node, instance, device) (floor(node_network_flags{${matchers}} / 2048) % 2 == 1)`;
}

/**
 * The sum over the devices of a node that count by name, without the slaves of bonds. A series without the label `node`
 * belongs to the host in `instance`.
 *
 * @param vector returns the series of the devices that meet the matchers
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

/** Capacity of each node in bytes per second: the sum of its usable speeds. */
export const CAPACITY = sumByNode((matchers) => `(${usableSpeeds(`node_network_speed_bytes{${matchers}}`)})`);
