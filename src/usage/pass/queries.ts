import { DEFAULT_EXCLUDED_DEVICES, MACVLAN_NAME, VETH_NAME, VLAN_NAME, wholeName } from '../evaluate/devices.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';

/** One PromQL label matcher that every series must meet, such as cluster="x". */
export interface LabelMatcher {
  name: string;
  op: '=' | '!=' | '=~' | '!~';
  /** As it is meant, not escaped. */
  value: string;
}

/** What one distinct question to Prometheus is. */
export interface UsageQuery {
  /** Window of rate(): at least four scrape intervals give a number worth deciding on. */
  windowSeconds: number;
  /** Known where Prometheus is our own; otherwise it is found out by counting samples. */
  scrapeIntervalSeconds?: number;
  matchers: readonly LabelMatcher[];
  direction: 'transmit';
  /** Names of devices that don't count, in syntax that both RE2 and JavaScript know. Default: not the physical ones. */
  excludedDevices?: string;
}

/** The devices of a query: all but the excluded, or the given ones of some nodes only. */
export type Scope = { kind: 'counted' } | { kind: 'uplinks'; nodes: NodeRestriction; devices: readonly string[] };

/** Series of these nodes only: by their `node` label, or, where there is none, by the host in `instance`. */
export interface NodeRestriction {
  names: readonly string[];
  /** Names and addresses, IPv6 without brackets. */
  hosts: readonly string[];
}

export const COUNTED: Scope = { kind: 'counted' };

/** For how long a device that has become slower is told of. */
export const PEAK_WINDOW_SECONDS = 3600;

const TRANSMITTED = 'node_network_transmit_bytes_total';
/** What is known of a device beside its rate, by metric. */
export const FACT_METRICS: readonly string[] = [
  TRANSMITTED,
  'node_network_speed_bytes',
  'node_network_flags',
  'node_network_iface_id',
  'node_network_iface_link',
  'node_ethtool_info',
];

/**
 * Bytes per second of each device, series as they are stored: were they aggregated, two clusters' nodes of one name
 * would silently become one.
 */
export function ratesQuery(query: UsageQuery, scope: Scope = COUNTED): string {
  return inScope(query, scope, (matchers) => `rate(${TRANSMITTED}${matchers}[${query.windowSeconds}s])`);
}

/**
 * Everything else about each device. Aggregated, since it drops the labels that nobody reads (three quarters of the
 * answer on 10,000 nodes); series that must not be mixed show in the rates.
 *
 * @param metrics which of FACT_METRICS
 */
export function factsQuery(query: UsageQuery, scope: Scope = COUNTED, metrics = FACT_METRICS): string {
  return inScope(query, scope, (matchers) => {
    const facts = `{__name__=~"${metrics.join('|')}",${matchers.slice(1)}`;
    return `max by (__name__, node, instance, device, driver) (${facts})`;
  });
}

/**
 * Up to two macvlans of each given node, or, where it has none, veths: one is the node's uplink, two are ambiguous.
 * Both are left out of the other questions by their names.
 */
export function uplinksQuery(query: UsageQuery, nodes: NodeRestriction): string {
  return restrictions(nodes)
    .map((matchers) => {
      const [macvlans, veths] = [MACVLAN_NAME, VETH_NAME].map((name) => {
        return TRANSMITTED + braces([...query.matchers, { name: 'device', op: '=~', value: name }, ...matchers]);
      });
      return `topk by (node, instance) (2, ${macvlans} or on (node, instance) ${veths})`;
    })
    .join(' or ');
}

/**
 * The highest speed of the last hour of each device that is slower now: nothing on most clusters, and most days. What
 * is asked of Prometheus is more than any other query, 720 samples a series at a scrape interval of 5 s.
 */
export function fallenSpeedsQuery(query: UsageQuery): string {
  return inScope(query, COUNTED, (matchers) => {
    const speed = `node_network_speed_bytes${matchers}`;
    const by = 'max by (node, instance, device)';
    return `${by} (max_over_time(${speed}[${PEAK_WINDOW_SECONDS}s])) > ${by} (${speed})`;
  });
}

/** How many samples of a series lie in the window, in the middle of all series. */
export function samplesPerWindowQuery(query: UsageQuery): string {
  return inScope(query, COUNTED, (matchers) => {
    return `quantile(0.5, count_over_time(${TRANSMITTED}${matchers}[${query.windowSeconds}s]))`;
  });
}

function inScope(query: UsageQuery, scope: Scope, expression: (matchers: string) => string): string {
  if (scope.kind === 'counted') return expression(braces([...query.matchers, notExcluded(query)]));
  const devices = scope.devices.map(quoteMeta).join('|');
  const common: LabelMatcher[] = [...query.matchers, { name: 'device', op: '=~', value: devices }];
  return restrictions(scope.nodes)
    .map((matchers) => expression(braces([...common, ...matchers])))
    .join(' or ');
}

function notExcluded(query: UsageQuery): LabelMatcher {
  const excluded = query.excludedDevices ?? DEFAULT_EXCLUDED_DEVICES;
  return { name: 'device', op: '!~', value: `lo|${excluded}|${VLAN_NAME}` };
}

function restrictions({ names, hosts }: NodeRestriction): LabelMatcher[][] {
  const bracketed = hosts.map((host) => quoteMeta(host.includes(':') ? `[${host}]` : host));
  return [
    [{ name: 'node', op: '=~', value: names.map(quoteMeta).join('|') }],
    [
      { name: 'node', op: '=', value: '' },
      { name: 'instance', op: '=~', value: `(?:${bracketed.join('|')})(?::[0-9]+)?` },
    ],
  ];
}

function braces(matchers: readonly LabelMatcher[]): string {
  return `{${matchers.map(({ name, op, value }) => `${name}${op}${quotePromQL(value)}`).join(',')}}`;
}

/** A PromQL string literal, which takes the escapes of Go's. No value can end it or begin something else. */
export function quotePromQL(value: string): string {
  // JSON's escapes are a subset of Go's but for lone surrogates, which it writes as \ud800 and Go refuses; and "\/",
  // which JSON.stringify never writes.
  return JSON.stringify(value.toWellFormed());
}

function quoteMeta(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}

/**
 * Refuses what no answer could come of.
 * Throws PrometheusError BadConfiguration that names the value.
 */
export function checkQuery({ windowSeconds, matchers, excludedDevices }: UsageQuery): void {
  const wrong = (problem: string): never => {
    throw new PrometheusError('BadConfiguration', problem);
  };
  if (!Number.isSafeInteger(windowSeconds) || windowSeconds < 1) wrong(`${windowSeconds} s is no window`);
  for (const { name } of matchers) if (!LABEL_NAME.test(name)) wrong(`${JSON.stringify(name)} is no label name`);
  try {
    wholeName(excludedDevices ?? '');
  } catch {
    wrong(`${JSON.stringify(excludedDevices)} is no pattern for device names`);
  }
}

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
