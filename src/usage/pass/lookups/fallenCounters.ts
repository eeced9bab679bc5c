import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { SeriesVisitor } from '../../../prometheus/answer.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { add, fallMatters, type Devices, type LateSamples, type Sample } from '../../series/lateSamples.ts';
import { samplesQueries, type Counted, type NamedScope } from '../queries.ts';
import type { AskedLate, QueryRunner, RatesOptions } from '../queryRunner.ts';
import { firstInQuery, groupsForQueries, MOST_NODES, restrictionOf } from './restriction.ts';

/** The devices and the time of the queries, and the counters of which rates are read: by default the transmitted bytes. */
export interface LateOptions extends Pick<RatesOptions, 'scope' | 'offsetSeconds'> {
  readonly counters?: readonly Counted[];
}

/** Devices whose counters fell, or seem to have. */
interface Fell extends Pick<AskedLate, 'fell' | 'windowStart'> {
  /** Answers with the labels of the series of these nodes. */
  readonly found: readonly AskedLate['found'][];
  /** True if only their samples can tell: one query asks about some, and what is not asked about, or not answered, did not fall. */
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
    return { kind: 'named', nodes: restrictionOf(names, found), devices: [...devices].sort() };
  };
  const queriesOf = (names: readonly string[]): readonly string[] =>
    samplesQueries(queries.query, scopeOf(names), offsetSeconds, counted);
  const all = [...fell.keys()].slice(0, MOST_NODES);
  const groups = isGuess ? [firstInQuery(all, queriesOf)] : groupsForQueries(all, queriesOf);
  const left = new Map(isGuess ? [] : fell);
  await queries.lookUp(deadline, async (soon) => {
    const behindSeconds = await queries.behind(soon);
    for (const names of groups) {
      const samples = new FallenCounters(resolver, windowStart - behindSeconds);
      await queries.samples(samples, soon, { scope: scopeOf(names), offsetSeconds, counted, behindSeconds });
      // An answer after the deadline is not used.
      soon.signal.throwIfAborted();
      const asked = new Map(names.map((name) => [name, fell.get(name) ?? new Set<string>()]));
      for (const name of names) left.delete(name);
      for (const [name, devices] of isGuess ? samples.fallen : samples.without(asked)) left.set(name, devices);
    }
  });
  return left;
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

/** The devices of two maps. */
export function bothOf(one: Devices, other: Devices): Devices {
  const all = new Map(Array.from(one, ([node, devices]) => [node, new Set(devices)]));
  for (const [node, devices] of other) for (const device of devices) add(all, node, device);
  return all;
}

/** Adds devices whose counters fell so far that their rates are wrong. */
export function withFallen(late: LateSamples, { transmit, receive }: LateSamples['fallen']): LateSamples {
  const { fallen } = late;
  return { ...late, fallen: { transmit: bothOf(fallen.transmit, transmit), receive: bothOf(fallen.receive, receive) } };
}
