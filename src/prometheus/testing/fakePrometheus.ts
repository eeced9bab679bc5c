import type { SeriesVisitor } from '../answer.ts';
import type { Answer } from '../answerEnvelope.ts';
import type { PrometheusClient, InstantQuery } from '../prometheusClient.ts';
import { PrometheusError } from '../prometheusError.ts';

/** One device as a Prometheus would know it. Values are the texts of its samples. */
export interface FakeDevice {
  node?: string;
  instance?: string;
  device: string;
  rate?: string;
  total?: string;
  speed?: string;
  /** Highest speed of the last hour, where it is more than `speed`. */
  peak?: string;
  flags?: string;
  ifaceId?: string;
  ifaceLink?: string;
  driver?: string;
}

interface Series {
  metric: { __name__?: string; node?: string; instance?: string; driver?: string };
  value: [number, string];
}

type Kind = 'rates' | 'facts' | 'uplinks' | 'samples' | 'fallen';

/**
 * Stands in for a client and the Prometheus behind it: answers the questions of a pass from a list of devices. Of the
 * matchers it knows those of device names.
 */
export class FakePrometheus implements PrometheusClient {
  devices: FakeDevice[] = [];
  samplesPerWindow: string | undefined = '4';
  warnings: string[] = [];
  /** The server's time of evaluation, seconds. */
  timeSeconds = 1_700_000_000;
  /** Called before each answer: throws, or waits. */
  before: (query: InstantQuery, kind: Kind) => unknown = () => undefined;
  /** Called after each answer. */
  after: (kind: Kind) => unknown = () => undefined;
  /** So many series of an answer with rates come before its connection breaks off. */
  breaksOffAfter: number | undefined = undefined;
  closed = false;
  readonly asked: { kind: Kind; expression: string }[] = [];

  count(kind: Kind): number {
    return this.asked.filter((one) => one.kind === kind).length;
  }

  async query(query: InstantQuery): Promise<Answer> {
    const kind = kindOf(query.expression);
    this.asked.push({ kind, expression: query.expression });
    await this.before(query, kind);
    const all = this.#series(kind, query.expression).filter(({ metric }) => isAskedFor(metric, query.expression));
    const breaksOffAfter = kind === 'rates' ? this.breaksOffAfter : undefined;
    for (const series of all.slice(0, breaksOffAfter)) show(series, query.visitor);
    if (breaksOffAfter !== undefined) throw new PrometheusError('Unreachable', 'the connection broke off');
    await this.after(kind);
    return { series: all.length, warnings: this.warnings, infos: [] };
  }

  close(): void {
    this.closed = true;
  }

  #series(kind: Kind, expression: string): Series[] {
    if (kind === 'samples') return this.samplesPerWindow === undefined ? [] : [this.#one({}, this.samplesPerWindow)];
    return this.#asked(expression).flatMap(
      ({ rate, total, speed, peak, flags, ifaceId, ifaceLink, driver, ...labels }) => {
        const one = (name: string, value: string | undefined, more = {}): Series[] =>
          value === undefined ? [] : [this.#one({ ...labels, ...more, ...(name && { __name__: name }) }, value)];
        if (kind === 'fallen') return one('', peak);
        if (kind === 'rates') return one('', rate);
        const counter = one('node_network_transmit_bytes_total', total);
        if (kind === 'uplinks') return counter;
        return [
          ...counter,
          ...one('node_network_speed_bytes', speed),
          ...one('node_network_flags', flags),
          ...one('node_network_iface_id', ifaceId),
          ...one('node_network_iface_link', ifaceLink),
          ...one('node_ethtool_info', driver && '1', { driver }),
        ];
      },
    );
  }

  /** Of several patterns, as the search for uplinks has them, the first one counts that any device of the node has. */
  #asked(expression: string): FakeDevice[] {
    const patterns = [...expression.matchAll(/device(=~|!~)("(?:[^"\\]|\\.)*")/g)].map(([, op, quoted = '""']) => {
      const pattern = new RegExp(`^(?:${JSON.parse(quoted) as string})$`);
      return ({ device }: FakeDevice): boolean => pattern.test(device) === (op === '=~');
    });
    const byNode = Map.groupBy(this.devices, ({ node, instance }) => `${node} ${instance}`);
    return [...byNode.values()].flatMap((ofNode) => {
      const isAsked = patterns.find((pattern) => ofNode.some(pattern));
      return isAsked === undefined ? [] : ofNode.filter(isAsked);
    });
  }

  #one(metric: Series['metric'], value: string): Series {
    return { metric, value: [this.timeSeconds, value] };
  }
}

/** As of a large answer, which is not parsed as a whole. */
function show(series: Series, visitor: SeriesVisitor): void {
  const bytes = Buffer.from(JSON.stringify(series));
  if (visitor.visitBytes === undefined) visitor.visit(series);
  else visitor.visitBytes(bytes, 0, bytes.length);
}

/** Facts are asked for by the names of their metrics. */
function isAskedFor({ __name__: name }: Series['metric'], expression: string): boolean {
  return name === undefined || !expression.includes('__name__=~') || expression.includes(name);
}

function kindOf(expression: string): Kind {
  if (expression.startsWith('rate(')) return 'rates';
  if (expression.includes('max_over_time')) return 'fallen';
  if (expression.startsWith('topk')) return 'uplinks';
  return expression.startsWith('quantile') ? 'samples' : 'facts';
}
