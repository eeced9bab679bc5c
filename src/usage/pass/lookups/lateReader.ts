import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import { orAborted, type Deadline } from '../../../prometheus/deadline.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Readings } from '../../evaluate/reading.ts';
import {
  add,
  fallMatters,
  NONE_FALLEN,
  type LateSamples,
  type Devices,
  type Sample,
} from '../../series/lateSamples.ts';
import {
  FALL_MARGIN_SECONDS,
  FALL_WINDOWS,
  samplesQueries,
  type UsageQuery,
  type Counted,
  type NamedScope,
} from '../queries.ts';
import {
  ANSWER_OF_MANY_MS,
  type Background,
  type QueryRunner,
  type LateOptions,
  type AskedLate,
} from '../queryRunner.ts';
import { countersOf } from '../receiveRates.ts';
import { Refreshed } from '../refreshed.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import type { SeriesVisitor } from '../../../prometheus/answer.ts';
import { firstInQuery, groupsForQueries, MOST_NODES, restrictionOf } from './restriction.ts';

/**
 * Interval of the background query for late samples in a large cluster: with 10,000 nodes and two cores the query takes a third of the time of
 * a pass. So a node whose samples have stopped, or whose counter fell, keeps its percent for one more pass.
 */
const LATE_EVERY_MS = 5_000;
/** Maximum age of its answer. */
const OLDEST_LATE_MS = 60_000;

/** A pass. */
interface Pass {
  readonly resolver: NodeResolver;
  readonly deadline: Deadline;
  /** True for a large cluster. */
  readonly areMany: boolean;
  readonly readings: Readings;
}

/** Reads which rates are wrong or of the past. Each pass over few nodes asks; in a large cluster it uses what was asked after the last pass. */
export class LateReader {
  readonly #queries: QueryRunner;
  readonly #background: Background;
  readonly #kept: Refreshed<LateSamples>;
  readonly #hidden: HiddenFalls;

  constructor(o: { queries: QueryRunner; query: UsageQuery; clock: Clock; background: Background }) {
    this.#queries = o.queries;
    this.#background = o.background;
    this.#kept = new Refreshed<LateSamples>(o.clock, LATE_EVERY_MS);
    this.#hidden = new HiddenFalls(o);
  }

  /** For a pass. Rejects as readLate. */
  async read(pass: Pass): Promise<LateSamples> {
    const { resolver, deadline, areMany, readings } = pass;
    if (!areMany) return readLate(this.#queries, resolver, deadline, { counters: countersOf(readings) });
    const known = this.#kept.ageMs < OLDEST_LATE_MS ? this.#kept.value : undefined;
    return (
      known ??
      orAborted(
        this.#kept.renew(() => this.#ask(pass)),
        deadline.signal,
      )
    );
  }

  /** Adds what the facts of the pass tell. Rejects as HiddenFalls. */
  withHidden(late: LateSamples, facts: Parameters<HiddenFalls['addTo']>[1], pass: Pass): Promise<LateSamples> {
    return this.#hidden.addTo(late, facts, pass.resolver, pass.deadline, { counters: countersOf(pass.readings) });
  }

  /** After a pass. */
  refresh(pass: Pass): void {
    if (pass.areMany) this.#kept.refresh(() => this.#ask(pass));
  }

  /** Resolves when no background query is running. */
  settled(): Promise<void> {
    return this.#kept.settled();
  }

  #ask({ resolver, readings }: Pass): Promise<LateSamples> {
    const options = { counters: countersOf(readings) };
    return this.#background((deadline) => readLate(this.#queries, resolver, deadline, options), ANSWER_OF_MANY_MS);
  }
}

/** The counters that a pass has read. */
interface Totals {
  /** Facts by node; undefined if the pass did not read them. */
  readonly samples?: ReadonlyMap<string, NodeSamples> | undefined;
  /** When they were read, seconds since 1970, by the server's clock. */
  readonly timeSeconds: number | undefined;
}

/** Devices of a node whose counters fell. */
interface Suspect {
  readonly devices: Set<string>;
  /** Seconds since 1970. */
  readonly until: number;
}

/**
 * Finds counters that fell from one pass to the next although the server tells of no fall: Thanos gives the function resets() counters without resets
 * (https://github.com/thanos-io/thanos/issues/3644). Then it asks for their samples, and sends no query otherwise. Only these prove a fall: two
 * Prometheus servers behind one Service also have other counters in each pass.
 */
class HiddenFalls {
  readonly #queries: QueryRunner;
  readonly #query: UsageQuery;
  #before: Totals = { timeSeconds: 0 };
  readonly #suspects = new Map<string, Suspect>();

  constructor({ queries, query }: { queries: QueryRunner; query: UsageQuery }) {
    this.#queries = queries;
    this.#query = query;
  }

  /** Call it in each pass. Adds what the server does not tell. Rejects with the abort reason of the deadline. */
  async addTo(
    late: LateSamples,
    totals: Totals,
    resolver: NodeResolver,
    deadline: Deadline,
    options: LateOptions,
  ): Promise<LateSamples> {
    const { samples: found, timeSeconds: now = 0 } = totals;
    this.#compare(totals, now);
    const fell = this.#untold(late.fell, now);
    if (found === undefined || fell.size === 0) return late;
    const windowStart = now - this.#query.windowSeconds - FALL_MARGIN_SECONDS;
    const { transmit, receive } = await fallenOf(
      this.#queries,
      { fell, found, windowStart, isGuess: true },
      resolver,
      deadline,
      options,
    );
    const { fallen } = late;
    return { ...late, fallen: { transmit: both(fallen.transmit, transmit), receive: both(fallen.receive, receive) } };
  }

  #compare(totals: Totals, now: number): void {
    const before = this.#before.samples;
    this.#before = totals;
    const until = now + FALL_WINDOWS * this.#query.windowSeconds + FALL_MARGIN_SECONDS;
    for (const [node, { devices }] of totals.samples ?? []) {
      const earlier = before?.get(node)?.devices;
      for (const [name, { total = NaN }] of devices) {
        if (total >= (earlier?.get(name)?.total ?? -Infinity) || Number.isNaN(total)) continue;
        const known = this.#suspects.get(node)?.devices ?? new Set();
        this.#suspects.set(node, { devices: known.add(name), until });
      }
    }
  }

  /** The suspects that the server does not name. Forgets those whose window has passed. */
  #untold(told: Devices, now: number): Devices {
    const fell = new Map<string, Set<string>>();
    for (const [node, { devices, until }] of this.#suspects) {
      if (now >= until) this.#suspects.delete(node);
      else for (const device of devices) if (told.get(node)?.has(device) !== true) add(fell, node, device);
    }
    return fell;
  }
}

function both(one: Devices, other: Devices): Devices {
  const all = new Map(Array.from(one, ([node, devices]) => [node, new Set(devices)]));
  for (const [node, devices] of other) for (const device of devices) add(all, node, device);
  return all;
}

/**
 * The devices whose rates are wrong or of the past. Only if counters fell, asks for their samples, of MOST_NODES nodes at most, in groups for queries of
 * 16 KiB: a few bytes less leave the rate right. Many nodes fall at once, for example, where the function resets() counts new start timestamps, as after
 * a restart of a collector (https://github.com/prometheus/prometheus/pull/18627). Without an answer within a quarter of the time of the pass each fall counts.
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
  /** True if only their samples can tell: one query asks about some, and what is not asked about, or not answered, did not fall. */
  readonly isGuess?: true;
}

/** Returns the devices whose rates are wrong among the devices with a counter that fell. Rejects with the abort reason of the deadline. */
async function fallenOf(
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
  const all = [...fell.keys()].slice(0, MOST_NODES);
  const groups = isGuess ? [firstInQuery(all, queriesOf)] : groupsForQueries(all, queriesOf);
  const left = new Map(isGuess ? [] : fell);
  await queries.lookUp(deadline, async (soon) => {
    for (const names of groups) {
      const samples = new FallenCounters(resolver, windowStart);
      await queries.samples(samples, soon, { scope: scopeOf(names), offsetSeconds, counted });
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
