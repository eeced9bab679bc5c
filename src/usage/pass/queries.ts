import { DEFAULT_EXCLUDED_DEVICES, MACVLAN_NAME, VETH_NAME, VLAN_NAME } from '../evaluate/devices/devices.ts';
import { LONGEST_SILENCE_SECONDS } from '../evaluate/rateProblems.ts';
import { LATE_SECONDS } from '../evaluate/snapshot.ts';
import { mostPercent } from '../evaluate/sums.ts';
import type { FactMetric } from '../series/factMetrics.ts';
import { braces, quoteMeta, type LabelMatcher } from './promql.ts';

/** The settings of a feed that its queries depend on. */
export interface UsageQuery {
  /** The samples of this time make a rate. A reliable rate needs at least four scrape intervals. */
  windowSeconds: number;
  /** Set if the operator deployed Prometheus. Otherwise the operator counts the samples in the window. */
  scrapeIntervalSeconds?: number;
  matchers: readonly LabelMatcher[];
  /**
   * Labels that tell the replicas of an HA pair of Prometheus apart. Series that differ only in them are one. Default:
   * none, and a node with such series is ambiguous.
   */
  replicaLabels?: readonly string[];
  /** Names of devices that do not count, in a syntax of both RE2 and JavaScript. Default: DEFAULT_EXCLUDED_DEVICES. */
  excludedDevices?: string;
}

/** The counters of a query for rates. */
export type Counted = 'transmit' | 'receive';

/**
 * The series of a query:
 *
 * | kind    | series                                                                         |
 * |---------|--------------------------------------------------------------------------------|
 * | counted | of all devices that are not excluded; with `hasTwoSamples`, rates only of two samples at least |
 * | live    | the same, or the given devices, of the given nodes, and only those whose newest sample is not too old, and that have two samples |
 * | named   | of the given devices of the given nodes                                        |
 */
export type Scope = { kind: 'counted'; hasTwoSamples?: true } | LiveScope | NamedScope;

export interface LiveScope {
  kind: 'live';
  nodes: NodeRestriction;
  /** Default: all that are not excluded. */
  devices?: readonly string[] | undefined;
}

export interface NamedScope {
  kind: 'named';
  nodes: NodeRestriction;
  devices: readonly string[];
}

/** Selects series by the label `node`, or, for series without it, by `instance`. */
export interface NodeRestriction {
  /** Values of `node`. */
  names: readonly string[];
  /** Names and addresses in `instance`, which may have a port; IPv6 without brackets. */
  hosts?: readonly string[];
  /** Values of `instance`. */
  instances?: readonly string[];
}

export const COUNTED: Scope = { kind: 'counted' };
/** For a pass that does not ask `lateQuery`, since VictoriaMetrics gives one sample the slope 0. */
export const COUNTED_WITH_TWO: Scope = { kind: 'counted', hasTwoSamples: true };

/** A device counts as slower for one hour after its speed fell. */
export const PEAK_WINDOW_SECONDS = 3600;

const TRANSMITTED: FactMetric = 'node_network_transmit_bytes_total';
/** Read only while somebody asks for another direction than Transmit. */
export const RECEIVED = 'node_network_receive_bytes_total';
const SPEED: FactMetric = 'node_network_speed_bytes';
const METRICS: Readonly<Record<Counted, string>> = { transmit: TRANSMITTED, receive: RECEIVED };

/**
 * Bytes per second of each device: the slope of the line through the samples in the window (least squares).
 *
 * rate() would divide what the samples have counted by the whole window. Where samples cover only a part of it, because they arrive late,
 * have stopped, or have just begun, the rate is then too low by the rest, and a full node looks fit. The slope is of what the samples cover.
 *
 * | The samples of a node at 95 %         | rate()           | the slope                                               |
 * |---------------------------------------|------------------|---------------------------------------------------------|
 * | arrive late by half of the window     | about 48 %       | 95 %                                                    |
 * | have stopped, without a stale marker  | falls to 0 %     | 95 %, until `lateQuery` has them                        |
 * | are back after a gap                  | rises from 20 %  | 95 %                                                    |
 * | step back by a few bytes              | millions of %    | 95 %, see `fallMatters`                                 |
 * | fall: the node was restarted          | too low at first | any rate while the window has older samples: no figure, see `fallMatters` |
 *
 * Aggregates replicas only: other aggregation would merge two nodes of the same name in different clusters without notice. Each replica reads the
 * same counter: of those that have the most samples, and two at least, the highest rate counts, never a sum. The two samples of a replica that has just
 * started would be the rate of a moment, and VictoriaMetrics gives one sample the slope 0. One whose samples are late is left out. A store that comes back within the query, as with Thanos, leaves none out. A rate
 * that no link can carry is replaced: see readSoundReplicas.
 *
 * @param offsetSeconds how long ago, by the server's clock
 */
export function ratesQuery(
  query: UsageQuery,
  scope: Scope = COUNTED,
  offsetSeconds = 0,
  counted: Counted = 'transmit',
): string {
  const counter = METRICS[counted];
  return inScope(query, scope, (matchers) => {
    const slope = `deriv(${counter}${matchers}[${query.windowSeconds}s]${offsetOf(offsetSeconds)})`;
    const live = `${slope} and (${newest(counter + matchers, offsetSeconds)} >= ${oldestOf(query, offsetSeconds)})`;
    // A longer window has samples that a server no longer shows: then `lateQuery` does not name their series.
    const rate = query.windowSeconds > LONGEST_SEEN_SECONDS ? live : slope;
    const samples = samplesOf(query, counter + matchers, offsetSeconds);
    if (hasReplicas(query)) {
      const most = `clamp_min(${ofReplicas(query, samples)}, 2)`;
      const fewer = `${samples} < ignoring (${labelsOf(query)}) group_left () ${most}`;
      const rates = `${live} unless (${fewer})`;
      return scope.kind === 'named' ? possibleOf(query, rates, matchers) : ofReplicas(query, rates);
    }
    const ofTwo = `(${samples} > 1)`;
    if (scope.kind === 'live') return `${live} and ${ofTwo}`;
    return scope.kind === 'counted' && scope.hasTwoSamples ? `${rate} and ${ofTwo}` : rate;
  });
}

/**
 * The highest rate of the replicas that a link of this speed can carry; without such a rate, and without a speed, the lowest rate. Only for given
 * devices: the expression has more than twice the length.
 */
function possibleOf(query: UsageQuery, rates: string, matchers: string): string {
  const limit = `${mostPercent({}) / 100} * ${SPEED}${matchers}`;
  return `${ofReplicas(query, `(${rates}) <= ${limit}`)} or min without (${labelsOf(query)}) (${rates})`;
}

/**
 * Returns the query for devices whose rate of a counter may be wrong. The answer is usually empty. Each counter has its own query: a store can have
 * fewer samples of one than of the other, as when it has just begun to keep it.
 *
 * | value                             | the device                                                                          |
 * |-----------------------------------|-------------------------------------------------------------------------------------|
 * | the time of its newest sample     | that sample is too old: its rate is outdated                                        |
 * | 1                                 | has one sample in the window. VictoriaMetrics gives it the slope 0, Prometheus none. Not if another series of the device has more samples, as after an exporter's pod was replaced |
 * | below 0                           | has a counter that fell within the window or shortly before                         |
 *
 * A server shows a sample for five minutes, unless the target was scraped without the series, or was removed: writers to a store often report neither.
 *
 * @param offsetSeconds how long ago, by the server's clock
 */
export function lateQuery(
  query: UsageQuery,
  scope: Scope = COUNTED,
  offsetSeconds = 0,
  counted: Counted = 'transmit',
): string {
  return inScope(query, scope, (matchers) => {
    const counter = METRICS[counted] + matchers;
    const resets = `resets(${fallRange(query, counted, matchers, offsetSeconds)})`;
    return [
      `${ofReplicas(query, newest(counter, offsetSeconds))} < ${oldestOf(query, offsetSeconds)}`,
      `max by (node, instance, device) (${samplesOf(query, counter, offsetSeconds)}) < 2`,
      `-(${ofReplicas(query, resets)} > 0)`,
    ].join(' or ');
  });
}

/**
 * Returns the query for nodes whose counters get samples, but have stood still. The value is 0. One query asks for counters and times, so that no sample
 * comes between two answers.
 *
 * | device                                      | its counter shows that the node is alive      |
 * |---------------------------------------------|-----------------------------------------------|
 * | that the user excludes by name              | yes: it may be the one with the heartbeats    |
 * | lo                                          | yes: the node-exporter may leave out a NIC    |
 * | of a pod, as the default pattern has it     | not asked for: there may be hundreds          |
 *
 * @param seconds how long
 */
export function standingQuery(query: UsageQuery, seconds: number): string {
  const { excludedDevices: excluded = DEFAULT_EXCLUDED_DEVICES } = query;
  const patterns = [DEFAULT_EXCLUDED_DEVICES, ...(excluded.startsWith(DEFAULT_EXCLUDED_DEVICES) ? [] : [excluded])];
  const sentBut = (names: string): string => TRANSMITTED + braces([...query.matchers, without(names)]);
  const most = (valueOf: (counters: string) => string): string =>
    `max by (node, instance) (${patterns.map((names) => valueOf(sentBut(names))).join(' or ')})`;
  const sent = most((each) => `abs(${each} - ${each}${offsetOf(seconds)})`);
  const time = most((each) => `${newest(each, 0)} - ${newest(each, seconds)}`);
  return `${sent} == 0 and ${time} >= ${LONGEST_SILENCE_SECONDS}`;
}

/** The bytes that each node has sent, all devices together that are not excluded. */
export function totalsQuery(query: UsageQuery): string {
  return inScope(query, COUNTED, (matchers) => `sum by (node, instance) (${TRANSMITTED}${matchers})`);
}

/**
 * All samples of the counters of the given devices in the time within which `lateQuery` finds falls: a matrix for each query.
 *
 * @param behindSeconds how much earlier the server evaluates `lateQuery` than it reads samples: see QueryRunner.behind
 */
export function samplesQueries(
  query: UsageQuery,
  scope: NamedScope,
  offsetSeconds: number,
  counted: Counted,
  behindSeconds = 0,
): readonly string[] {
  return matchersOf(query, scope).map((matchers) => fallRange(query, counted, matchers, offsetSeconds, behindSeconds));
}

/**
 * Returns the query for devices that have sent or received more than so many bytes, and have a sample of exactly 0 in the window. The answer is usually
 * empty. Collectors that know when a counter was created insert a sample 0 before its first one.
 */
export function zerosQuery(query: UsageQuery, counted: Counted, leastBytes: number): string {
  return inScope(query, COUNTED, (matchers) => {
    const counter = METRICS[counted] + matchers;
    return ofReplicas(
      query,
      `${counter} > ${leastBytes} and (min_over_time(${counter}[${query.windowSeconds}s]) == 0)`,
    );
  });
}

/** So that a fall does not leave the window between the evaluations of two queries of a pass. */
export const FALL_MARGIN_SECONDS = 2;
/** Returns the start of the rate window with that margin, seconds since 1970. @param seconds the end of the window */
export function windowStartAt(seconds: number, { windowSeconds }: Pick<UsageQuery, 'windowSeconds'>): number {
  return seconds - windowSeconds - FALL_MARGIN_SECONDS;
}

/** With the sample before the window, also if a scrape is missing: the window has at least four scrapes. */
export const FALL_WINDOWS = 1.5;

function fallRange(
  { windowSeconds }: UsageQuery,
  counted: Counted,
  matchers: string,
  offsetSeconds: number,
  behindSeconds = 0,
): string {
  const seconds = Math.ceil(FALL_WINDOWS * windowSeconds + behindSeconds) + FALL_MARGIN_SECONDS;
  return `${METRICS[counted]}${matchers}[${seconds}s]${offsetOf(offsetSeconds)}`;
}

function samplesOf({ windowSeconds }: UsageQuery, series: string, offsetSeconds: number): string {
  return `count_over_time(${series}[${windowSeconds}s]${offsetOf(offsetSeconds)})`;
}

/**
 * How old the newest sample of a rate may be, seconds. The window has at least four scrapes, so three can be missed, or samples can be late
 * by half of the window, before there is no rate.
 */
export function oldestSeconds({ windowSeconds }: UsageQuery): number {
  return Math.min(0.75 * windowSeconds, LONGEST_SEEN_SECONDS);
}

/** A little less than the five minutes for which servers show a sample (query.lookback-delta). */
const LONGEST_SEEN_SECONDS = 270;

function newest(series: string, offsetSeconds: number): string {
  return `timestamp(${series}${offsetOf(offsetSeconds)})`;
}

/** The time of the oldest sample that is not too old. */
function oldestOf(query: UsageQuery, offsetSeconds: number): string {
  return `time() - ${Number((oldestSeconds(query) + offsetSeconds).toFixed(3))}`;
}

function offsetOf(seconds: number): string {
  return seconds === 0 ? '' : ` offset ${Math.round(seconds * 1000)}ms`;
}

function hasReplicas({ replicaLabels = [] }: UsageQuery): boolean {
  return replicaLabels.length > 0;
}

function labelsOf({ replicaLabels = [] }: UsageQuery): string {
  return replicaLabels.join(', ');
}

/** The highest value of all replicas. */
function ofReplicas(query: UsageQuery, values: string): string {
  return hasReplicas(query) ? `max without (${labelsOf(query)}) (${values})` : values;
}

/**
 * A fact of each device. Aggregates to drop unused labels, which are three quarters of the answer with 10,000 nodes.
 * Series that must not be merged are detected in the rates.
 *
 * One query has one metric: Google Managed Prometheus and GreptimeDB refuse a pattern of metric names, and set operators ignore them.
 * https://cloud.google.com/stackdriver/docs/managed-prometheus/promql-differences#promql-metric-name-match
 *
 * Of replicas the one with the newest speed counts: a stopped replica, whose last samples stay for five minutes, may know
 * a speed that the device no longer has. Devices without a speed need no such rule: the highest counter is the newest
 * one, and the rest are properties of the device.
 *
 * @param metric one of FACT_METRICS
 */
export function factQuery(query: UsageQuery, metric: FactMetric, scope: Scope = COUNTED): string {
  return inScope(query, scope, (matchers) => {
    const series = metric + matchers;
    const counting = (): string => {
      if (scope.kind === 'live') return `${series} and (${newest(series, 0)} >= ${oldestOf(query, 0)})`;
      return hasReplicas(query) && metric === SPEED ? ofNewestReplica(query, series) : series;
    };
    return `max by (node, instance, device, driver) (${counting()})`;
  });
}

/**
 * The speeds of the replica whose sample of it is the newest. A server of several stores selects the series of each part of the expression
 * separately, and a store can come back between two of them (Thanos Query, when a sidecar starts). Where the newest replica is then in one
 * part alone, the speed of any replica counts instead of none.
 */
function ofNewestReplica(query: UsageQuery, speed: string): string {
  const device = 'node, instance, device';
  const ofNewest = `${speed} and on (${device}, ${labelsOf(query)}) topk by (${device}) (1, timestamp(${speed}))`;
  return `(${ofNewest}) or on (${device}) ${speed}`;
}

/**
 * Up to two macvlans of each given node, or up to two veths if it has no macvlan. One is the node's uplink, two are
 * ambiguous. The other queries exclude both kinds by name.
 */
export function uplinksQuery(query: UsageQuery, nodes: NodeRestriction): string {
  return restrictions(nodes)
    .map((matchers) => {
      const [macvlans, veths] = [MACVLAN_NAME, VETH_NAME].map((name) => {
        const counters =
          TRANSMITTED + braces([...query.matchers, { name: 'device', op: '=~', value: name }, ...matchers]);
        // Otherwise two replicas of one of several devices would be the two, and the node would not be ambiguous.
        return hasReplicas(query) ? `max by (node, instance, device) (${counters})` : counters;
      });
      return `topk by (node, instance) (2, ${macvlans} or on (node, instance) ${veths})`;
    })
    .join(' or ');
}

/**
 * The highest speed of the last hour of each device that is slower now. The answer is usually empty. This is the most
 * expensive query for Prometheus: 720 samples per series at a scrape interval of 5 s.
 */
export function fallenSpeedsQuery(query: UsageQuery): string {
  return inScope(query, COUNTED, (matchers) => {
    const speed = `node_network_speed_bytes${matchers}`;
    const by = 'max by (node, instance, device)';
    return `${by} (max_over_time(${speed}[${PEAK_WINDOW_SECONDS}s])) > ${by} (${speed})`;
  });
}

/** Median over all series of the number of samples in the window. */
export function samplesPerWindowQuery(query: UsageQuery): string {
  return inScope(query, COUNTED, (matchers) => {
    return `quantile(0.5, ${samplesOf(query, TRANSMITTED + matchers, 0)})`;
  });
}

/**
 * How late samples are when the server has them, seconds. The window has at least four scrapes, so no node waits longer for one than a quarter.
 *
 * | series         | value                                                                                            |
 * |----------------|--------------------------------------------------------------------------------------------------|
 * | without labels | the age of the newest sample that all but 5 % of the series exceed: scrapes are spread over their interval, so some samples have just arrived |
 * | of a node      | the age of its newest sample, if it is late by LATE_SECONDS at least                              |
 */
export function lagQuery(query: UsageQuery): string {
  return inScope(query, COUNTED, (matchers) => {
    const age = `time() - ${newest(TRANSMITTED + matchers, 0)}`;
    return `quantile(0.05, ${age}) or min by (node, instance) (${age}) >= ${LATE_SECONDS + query.windowSeconds / 4}`;
  });
}

function inScope(query: UsageQuery, scope: Scope, expression: (matchers: string) => string): string {
  return matchersOf(query, scope).map(expression).join(' or ');
}

function matchersOf(query: UsageQuery, scope: Scope): string[] {
  if (scope.kind === 'counted') return [braces([...query.matchers, notExcluded(query)])];
  const devices: LabelMatcher = scope.devices
    ? { name: 'device', op: '=~', value: scope.devices.map(quoteMeta).join('|') }
    : notExcluded(query);
  const common: LabelMatcher[] = [...query.matchers, devices];
  return restrictions(scope.nodes).map((matchers) => braces([...common, ...matchers]));
}

function notExcluded(query: UsageQuery): LabelMatcher {
  return without(`lo|${query.excludedDevices ?? DEFAULT_EXCLUDED_DEVICES}`);
}

function without(names: string): LabelMatcher {
  return { name: 'device', op: '!~', value: `${names}|${VLAN_NAME}` };
}

function restrictions({ names, hosts = [], instances = [] }: NodeRestriction): LabelMatcher[][] {
  const bracketed = hosts.map((host) => quoteMeta(host.includes(':') ? `[${host}]` : host));
  const ofHosts = bracketed.length === 0 ? [] : [`(?:${bracketed.join('|')})(?::[0-9]+)?`];
  const ofInstances = [...instances.map(quoteMeta), ...ofHosts].join('|');
  const byNode: LabelMatcher[] = [{ name: 'node', op: '=~', value: names.map(quoteMeta).join('|') }];
  if (ofInstances === '') return [byNode];
  return [
    byNode,
    [
      { name: 'node', op: '=', value: '' },
      { name: 'instance', op: '=~', value: ofInstances },
    ],
  ];
}
