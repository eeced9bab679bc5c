import type { SeriesVisitor } from '../answer.ts';
import type { Answer } from '../answerEnvelope.ts';
import type { PrometheusClient, Question } from '../prometheusClient.ts';
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
}

interface Series {
  metric: { __name__?: string; node?: string; instance?: string };
  value: [number, string];
}

type Kind = 'rates' | 'facts' | 'uplinks' | 'samples' | 'fallen';

/**
 * Stands in for a client and the Prometheus behind it: answers the questions of a pass from a list of devices. It
 * knows of matchers only that the ordinary questions leave veths out.
 */
export class FakePrometheus implements PrometheusClient {
  devices: FakeDevice[] = [];
  samplesPerWindow: string | undefined = '4';
  warnings: string[] = [];
  /** The server's time of evaluation, seconds. */
  timeSeconds = 1_700_000_000;
  /** Called before each answer: throws, or waits. */
  before: (question: Question, kind: Kind) => unknown = () => undefined;
  /** Called after each answer. */
  after: (kind: Kind) => unknown = () => undefined;
  /** So many series of an answer with rates come before its connection breaks off. */
  breaksOffAfter: number | undefined = undefined;
  closed = false;
  readonly asked: { kind: Kind; expression: string }[] = [];

  count(kind: Kind): number {
    return this.asked.filter((one) => one.kind === kind).length;
  }

  async query(question: Question): Promise<Answer> {
    const kind = kindOf(question.expression);
    this.asked.push({ kind, expression: question.expression });
    await this.before(question, kind);
    const all = this.#series(kind, question.expression).filter(({ metric }) => isAskedFor(metric, question.expression));
    const breaksOffAfter = kind === 'rates' ? this.breaksOffAfter : undefined;
    for (const series of all.slice(0, breaksOffAfter)) show(series, question.visitor);
    if (breaksOffAfter !== undefined) throw new PrometheusError('Unreachable', 'the connection broke off');
    await this.after(kind);
    return { series: all.length, warnings: this.warnings, infos: [] };
  }

  close(): void {
    this.closed = true;
  }

  #series(kind: Kind, expression: string): Series[] {
    if (kind === 'samples') return this.samplesPerWindow === undefined ? [] : [this.#one({}, this.samplesPerWindow)];
    const veths = expression.includes('device=~');
    const asked = this.devices.filter(({ device }) => device.startsWith('veth') === veths);
    return asked.flatMap(({ rate, total, speed, peak, ...labels }) => {
      if (kind === 'fallen') return peak === undefined ? [] : [this.#one(labels, peak)];
      if (kind === 'rates') return rate === undefined ? [] : [this.#one(labels, rate)];
      const counter = { ...labels, __name__: 'node_network_transmit_bytes_total' };
      const facts = total === undefined ? [] : [this.#one(counter, total)];
      if (kind === 'uplinks' || speed === undefined) return facts;
      return [...facts, this.#one({ ...labels, __name__: 'node_network_speed_bytes' }, speed)];
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
