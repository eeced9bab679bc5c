import type { SeriesVisitor, Answer } from '../answer.ts';
import type { PrometheusClient, InstantQuery } from '../prometheusClient.ts';
import { PrometheusError } from '../prometheusError.ts';

/** The series of one device. Values are the texts of its samples. */
export interface FakeDevice {
  node?: string;
  pod?: string;
  instance?: string;
  device: string;
  rate?: string;
  /** Receive rate. */
  received?: string;
  total?: string;
  speed?: string;
  /** The result of lateQuery: the time of the newest sample, 1 for a single sample, or a number below 0 for a fall. */
  newest?: string;
  /** The same for the receive counter; '' for none. Default: `newest`, if there is a receive rate. */
  newestReceived?: string;
  /** The samples of its counter, as texts: one every 5 s until the time of the server. */
  samples?: readonly string[];
  /** Time of its newest sample, as a text. Default: the time of the server. */
  sampled?: string;
  /** True if its samples have ended within the rate window. */
  ended?: true;
  /** Highest speed of the last hour, if it is above `speed`. */
  peak?: string;
  /** Default: ETHERNET. '' for none. */
  flags?: string;
  ifaceId?: string;
  ifaceLink?: string;
  driver?: string;
}

/** UP, BROADCAST, MULTICAST. */
const ETHERNET = String(0x1003);

/** A query with this text leaves out rates of series with one sample. */
const NEEDS_TWO_SAMPLES = /\) > 1\)|, 2\)\)/;

interface Series {
  metric: { __name__?: string | undefined; node?: string; instance?: string; device?: string; driver?: string };
  value?: [number, string];
  values?: [number, string][];
}

type Kind =
  | 'rates'
  | 'late'
  | 'raw'
  | 'behind'
  | 'zeros'
  | 'standing'
  | 'totals'
  | 'received'
  | 'facts'
  | 'uplinks'
  | 'samples'
  | 'lag'
  | 'fallen';

/**
 * Replaces a client and its Prometheus: answers the queries of a pass from a list of devices. Supports matchers of
 * device names, and of the label `node`: series without it match all values of `instance`.
 */
export class FakePrometheus implements PrometheusClient {
  devices: FakeDevice[] = [];
  samplesPerWindow: string | undefined = '4';
  /** How late samples are, seconds. */
  lag: string | undefined;
  /** Nodes whose samples are late. */
  lateNodes: readonly string[] = [];
  warnings: string[] = [];
  /** The warnings of an answer. */
  warningsOf: (kind: Kind) => readonly string[] = () => this.warnings;
  /** Evaluation time of the server, seconds. */
  timeSeconds = 1_700_000_000;
  /** False if it has no answer to the question for its time. */
  tellsTime = true;
  /** True if the server keeps the metric. */
  keeps: (metric: string) => boolean = () => true;
  /** Called before each answer. Can throw or wait. */
  before: (query: InstantQuery, kind: Kind) => unknown = () => undefined;
  /** Called after each answer. */
  after: (kind: Kind) => unknown = () => undefined;
  /** Number of series of an answer with rates before the connection closes. */
  breaksOffAfter: number | undefined = undefined;
  closed = false;
  readonly asked: { kind: Kind; expression: string }[] = [];
  /** The counter of each device, and since when it has stood still. */
  readonly #counters = new Map<string, { total: string | undefined; since: number }>();

  /** Returns how many queries of a kind were asked. Counts queries of facts by one of their metrics. */
  count(kind: Kind): number {
    const isOne = ({ expression }: { expression: string }): boolean =>
      kind !== 'facts' || expression.includes('node_network_transmit_bytes_total');
    return this.asked.filter((one) => one.kind === kind && isOne(one)).length;
  }

  async query(query: InstantQuery): Promise<Answer> {
    const kind = kindOf(query.expression);
    this.asked.push({ kind, expression: query.expression });
    await this.before(query, kind);
    this.#remember();
    const asked = this.#series(kind, query.expression).filter(
      ({ metric }) => isAskedFor(metric, query.expression) && this.keeps(metric.__name__ ?? ''),
    );
    const all = kind === 'facts' ? highestOfEach(asked) : asked;
    const breaksOffAfter = kind === 'rates' ? this.breaksOffAfter : undefined;
    for (const { metric, ...samples } of all.slice(0, breaksOffAfter)) {
      show({ metric: { ...metric, __name__: undefined }, ...samples }, query.visitor);
    }
    if (breaksOffAfter !== undefined) throw new PrometheusError('Unreachable', 'the connection broke off');
    await this.after(kind);
    return { series: all.length, warnings: this.warningsOf(kind), infos: [] };
  }

  close(): void {
    this.closed = true;
  }

  #series(kind: Kind, expression: string): Series[] {
    if (kind === 'samples' || kind === 'lag') {
      const number = kind === 'lag' ? this.lag : this.samplesPerWindow;
      const late = kind === 'lag' ? this.lateNodes.map((node) => this.#one({ node }, '99')) : [];
      return number === undefined ? late : [this.#one({}, number), ...late];
    }
    if (kind === 'behind') return this.tellsTime ? [this.#one({}, String(this.timeSeconds))] : [];
    if (kind === 'standing') return this.#standing(expression);
    return this.#asked(expression).flatMap((device) => {
      const late = lateIn(expression, device);
      const {
        rate,
        received,
        newest: _newest,
        newestReceived: _newestReceived,
        sampled: _sampled,
        samples,
        ended,
        total,
        speed,
        peak,
        flags,
        ifaceId,
        ifaceLink,
        driver,
        ...labels
      } = device;
      const isLive = expression.includes(' and (timestamp(');
      if (ended && (kind === 'facts' || isLive)) return [];
      if (isLive && Number(late) > 1) return [];
      if (late === '1' && NEEDS_TWO_SAMPLES.test(expression)) return [];
      const one = (name: string, value: string | undefined, more = {}): Series[] =>
        value === undefined ? [] : [this.#one({ ...labels, ...more, ...(name && { __name__: name }) }, value)];
      if (kind === 'fallen') return one('', peak);
      if (kind === 'late') return late === '1' && this.#hasMoreSamples(device, expression) ? [] : one('', late);
      if (kind === 'totals') return one('', total);
      if (kind === 'zeros') return one('', samples?.includes('0') ? total : undefined);
      if (kind === 'raw') return samples ? [this.#all(labels, samples)] : [];
      if (kind === 'rates') return one('', rate);
      if (kind === 'received') return one('', received);
      const counter = one('node_network_transmit_bytes_total', total);
      if (kind === 'uplinks') return counter;
      return [
        ...counter,
        ...one('node_network_speed_bytes', speed),
        ...one('node_network_flags', flags === '' ? undefined : (flags ?? (total && ETHERNET))),
        ...one('node_network_iface_id', ifaceId),
        ...one('node_network_iface_link', ifaceLink),
        ...one('node_ethtool_info', driver && '1', { driver }),
      ];
    });
  }

  #remember(): void {
    for (const { node, instance, device, total } of this.devices) {
      const key = JSON.stringify([node, instance, device]);
      if (this.#counters.get(key)?.total !== total) this.#counters.set(key, { total, since: this.timeSeconds });
    }
  }

  /** The nodes all of whose counters stand still, with samples. */
  #standing(expression: string): Series[] {
    const seconds = Number(/ offset (\d+)ms/.exec(expression)?.[1]) / 1000;
    const isStanding = ({ node, instance, device, sampled = String(this.timeSeconds) }: FakeDevice): boolean => {
      const before = this.timeSeconds - seconds;
      const { since = Infinity } = this.#counters.get(JSON.stringify([node, instance, device])) ?? {};
      return since <= before && Number(sampled) - Math.min(Number(sampled), before) >= 20;
    };
    const byNode = Map.groupBy(this.#asked(expression), ({ node, instance }) => JSON.stringify({ node, instance }));
    return [...byNode].flatMap(([labels, devices]) =>
      devices.every(isStanding) ? [this.#one(JSON.parse(labels) as Series['metric'], '0')] : [],
    );
  }

  /** Returns the devices that the query asks for. A search for uplinks has several patterns: the first that matches a device of the node counts. */
  #asked(expression: string): FakeDevice[] {
    const patterns = [...expression.matchAll(/device(=~|!~)("(?:[^"\\]|\\.)*")/g)].map(([, op, quoted = '""']) => {
      const pattern = new RegExp(`^(?:${JSON.parse(quoted) as string})$`);
      return ({ device }: FakeDevice): boolean => pattern.test(device) === (op === '=~');
    });
    const byNode = Map.groupBy(this.devices.filter(nodesOf(expression)), ({ node, instance }) => `${node} ${instance}`);
    return [...byNode.values()].flatMap((ofNode) => {
      const isAsked = patterns.find((pattern) => ofNode.some(pattern));
      return isAsked === undefined ? [] : ofNode.filter(isAsked);
    });
  }

  /** True if another series of the device of the instance has several samples. */
  #hasMoreSamples({ node, instance, device }: FakeDevice, expression: string): boolean {
    const isOther = (each: FakeDevice): boolean =>
      each.node === node && each.instance === instance && each.device === device && lateIn(expression, each) !== '1';
    return this.devices.some(isOther);
  }

  #all(metric: Series['metric'], samples: readonly string[]): Series {
    const timeOf = (index: number): number => this.timeSeconds - 5 * (samples.length - 1 - index);
    return { metric, values: samples.map((text, index) => [timeOf(index), text]) };
  }

  #one(metric: Series['metric'], value: string): Series {
    return { metric, value: [this.timeSeconds, value] };
  }
}

/** The result of lateQuery for a device, about the counter of the expression. */
function lateIn(expression: string, { received, newest, newestReceived }: FakeDevice): string | undefined {
  if (!expression.includes('_receive_')) return newest;
  const late = newestReceived ?? (received === undefined ? undefined : newest);
  return late === '' ? undefined : late;
}

/** As `max by (node, instance, device, driver)`. Keeps values that are no number. */
function highestOfEach(all: readonly Series[]): Series[] {
  const highest = new Map<string, Series>();
  for (const { metric, ...samples } of all) {
    const { __name__, node, instance, device, driver } = metric;
    const by = { __name__, node, instance, device, driver };
    const key = JSON.stringify(by);
    const before = highest.get(key);
    if (Number(before?.value?.[1]) >= Number(samples.value?.[1])) continue;
    highest.set(key, { metric: JSON.parse(key) as Series['metric'], ...samples });
  }
  return [...highest.values()];
}

/** Visits a series like one of a large answer, which is not parsed. */
function show(series: Series, visitor: SeriesVisitor): void {
  const bytes = Buffer.from(JSON.stringify(series));
  if (visitor.visitBytes === undefined) visitor.visit(series);
  else visitor.visitBytes(bytes, 0, bytes.length);
}

/** True if the query selects the metric. */
function isAskedFor({ __name__: name }: Series['metric'], expression: string): boolean {
  return name === undefined || expression.includes(name);
}

/** Tells which devices are of the nodes that a query names: all if it names none. */
function nodesOf(expression: string): (device: FakeDevice) => boolean {
  const hasNone = expression.includes('node="",');
  const named = [...expression.matchAll(/[{,]node=~("(?:[^"\\]|\\.)*")/g)].map(
    ([, quoted = '""']) => new RegExp(`^(?:${JSON.parse(quoted) as string})$`),
  );
  if (!hasNone && named.length === 0) return () => true;
  return ({ node = '' }) => (node === '' ? hasNone : named.some((pattern) => pattern.test(node)));
}

function kindOf(expression: string): Kind {
  if (/^(?:max without \([^)]+\) \(+)?deriv\(/.test(expression)) {
    return expression.includes('_receive_') ? 'received' : 'rates';
  }
  if (/^(?:max without \([^)]+\) \()?timestamp\(/.test(expression)) return 'late';
  if (expression.startsWith('max by (node, instance) (abs(')) return 'standing';
  if (expression.startsWith('sum by (node, instance) (')) return 'totals';
  if (expression === 'vector(time())') return 'behind';
  if (expression.includes('min_over_time')) return 'zeros';
  if (/\[\w+\](?: offset \d+ms)?$/.test(expression)) return 'raw';
  if (expression.includes('max_over_time')) return 'fallen';
  if (expression.startsWith('topk')) return 'uplinks';
  if (expression.startsWith('quantile(0.05, time()')) return 'lag';
  return expression.startsWith('quantile') ? 'samples' : 'facts';
}
