import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { SeriesVisitor } from '../../../prometheus/answer.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';
import {
  add,
  fallMatters,
  NONE_FALLEN,
  type Devices,
  type LateSamples,
  type Sample,
} from '../../series/lateSamples.ts';
import { samplesQueries, type Counted, type NamedScope } from '../queries.ts';
import type { AskedLate, LateOptions, QueryRunner } from '../queryRunner.ts';
import { firstInQuery, restrictionOf } from './restriction.ts';

/**
 * The devices whose rates are wrong or of the past. Only if counters fell, asks for their samples, of as many nodes as one query can name: a few bytes
 * less leave the rate right. Without an answer each fall counts.
 *
 * Rejects as QueryRunner.late, and with the abort reason of the deadline.
 */
export async function readLate(
  queries: QueryRunner,
  resolver: NodeResolver,
  deadline: Deadline,
  options: LateOptions,
): Promise<LateSamples> {
  const { found, windowStart, ...late } = await queries.late(resolver, deadline, options);
  if (late.fell.size === 0) return { ...late, fallen: NONE_FALLEN };
  const fallen = await fallenOf(queries, { fell: late.fell, found, windowStart }, resolver, deadline, options);
  return { ...late, fallen };
}

/** Devices whose counters fell, or seem to have. */
interface Fell extends Pick<AskedLate, 'fell' | 'found' | 'windowStart'> {
  /** True if only their samples can tell: what is not asked about, or not answered, did not fall. */
  readonly isGuess?: true;
}

/** Returns the devices whose rates are wrong among the devices with a counter that fell. Rejects with the abort reason of the deadline. */
export async function fallenOf(
  queries: QueryRunner,
  asked: Fell,
  resolver: NodeResolver,
  deadline: Deadline,
  options: LateOptions,
): Promise<LateSamples['fallen']> {
  const fallen: Record<Counted, Devices> = { transmit: asked.fell, receive: asked.fell };
  const read = async (counted: Counted): Promise<void> => {
    fallen[counted] = await thatMatter(queries, resolver, deadline, asked, { ...options, counted });
  };
  await Promise.all((options.counters ?? ['transmit']).map(read));
  return fallen;
}

async function thatMatter(
  queries: QueryRunner,
  resolver: NodeResolver,
  deadline: Deadline,
  { found, fell, windowStart, isGuess }: Fell,
  { counted, offsetSeconds = 0 }: LateOptions & { counted: Counted },
): Promise<Devices> {
  const scopeOf = (names: readonly string[]): NamedScope => {
    const devices = new Set(names.flatMap((name) => [...(fell.get(name) ?? [])]));
    return { kind: 'named', nodes: restrictionOf(names, [found]), devices: [...devices].sort() };
  };
  const queriesOf = (names: readonly string[]): readonly string[] =>
    samplesQueries(queries.query, scopeOf(names), offsetSeconds, counted);
  const scope = scopeOf(firstInQuery([...fell.keys()], queriesOf));
  const samples = new FallenCounters(resolver, windowStart);
  try {
    await queries.samples(samples, deadline, { scope, offsetSeconds, counted });
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!(error instanceof PrometheusError)) throw error;
    return isGuess ? new Map() : fell;
  }
  return isGuess ? samples.fallen : samples.without(fell);
}

/** Reads the samples of devices: which counters fell too far, and which did not. */
class FallenCounters implements SeriesVisitor {
  readonly #resolver: NodeResolver;
  readonly #windowStart: number;
  readonly #harmless = new Map<string, Set<string>>();
  readonly fallen = new Map<string, Set<string>>();

  constructor(resolver: NodeResolver, windowStart: number) {
    this.#resolver = resolver;
    this.#windowStart = windowStart;
  }

  /** @param series an element of a matrix: `{metric, values: [[time, text], ...]}` */
  visit(series: unknown): void {
    const { metric = {}, values } = series as { metric?: Record<string, string>; values?: [number, string][] };
    const node = this.#resolver.resolve(metric.node, metric.instance);
    if (typeof node !== 'string' || metric.device === undefined || !Array.isArray(values)) return;
    const samples = values.map(([seconds, text]): Sample => [seconds, Number(text)]);
    const valid = samples.filter(([, bytes]) => Number.isFinite(bytes));
    add(fallMatters(valid, this.#windowStart) ? this.fallen : this.#harmless, node, metric.device);
  }

  /** The devices but for those with samples, none of which fell too far. Of two series of a device, one that fell too far suffices. */
  without(fell: Devices): Devices {
    const left = new Map<string, Set<string>>();
    for (const [node, devices] of fell) {
      for (const device of devices) {
        const isHarmless =
          this.#harmless.get(node)?.has(device) === true && this.fallen.get(node)?.has(device) !== true;
        if (!isHarmless) add(left, node, device);
      }
    }
    return left;
  }
}
