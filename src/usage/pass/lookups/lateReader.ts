import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import { orAborted, type Deadline } from '../../../prometheus/deadline.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Readings } from '../../evaluate/reading.ts';
import { NONE_FALLEN, NONE_LATE, type Devices, type LateSamples } from '../../series/lateSamples.ts';
import { oldestSeconds, type Counted, type UsageQuery } from '../queries.ts';
import { ANSWER_OF_MANY_MS, type AskedLate, type Background, type QueryRunner } from '../queryRunner.ts';
import { countersOf } from '../receiveRates.ts';
import { Refreshed } from '../refreshed.ts';
import { bothOf, fallenOf, type LateOptions } from './fallenCounters.ts';
import { HiddenFalls } from './hiddenFalls.ts';
import { withInsertedZeros } from './insertedZeros.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';

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

/** The other data that a pass has read. */
interface Told {
  readonly facts: Parameters<HiddenFalls['addTo']>[1];
  /** Transmit rates. */
  readonly rates: ReadonlyMap<string, NodeSamples>;
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
    // After a failure, the kept answer is of two passes ago, enough to change a label: the pass asks, or fails.
    const isKnown = !this.#kept.hasFailed && this.#kept.ageMs < OLDEST_LATE_MS;
    const known = isKnown ? this.#kept.value : undefined;
    return (
      known ??
      orAborted(
        this.#kept.renew(() => this.#ask(pass)),
        deadline.signal,
      )
    );
  }

  /** Adds what the facts and rates of the pass tell. Rejects as HiddenFalls and withInsertedZeros. */
  async withHidden(told: LateSamples, { facts, rates }: Told, pass: Pass): Promise<LateSamples> {
    const options = { counters: countersOf(pass.readings) };
    const late = await this.#hidden.addTo(told, facts, pass.resolver, pass.deadline, options);
    return withInsertedZeros(this.#queries, late, { samples: facts.samples, rates }, pass, options);
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
  const counters = options.counters ?? ['transmit'];
  const ask = (counted: Counted): Promise<AskedLate> => queries.late(resolver, deadline, { ...options, counted });
  const asked = await Promise.all(counters.map(ask));
  const ratesOf = (counted: Counted): AskedLate | undefined => asked[counters.indexOf(counted)];
  const fell = asked.map((each) => each.fell).reduce<Devices>(bothOf, new Map());
  const late = {
    transmit: ratesOf('transmit') ?? NONE_LATE.transmit,
    receive: ratesOf('receive') ?? NONE_LATE.receive,
    oldestSeconds: oldestSeconds(queries.query),
    fell,
    warnings: asked.flatMap(({ warnings }) => warnings),
    infos: asked.flatMap(({ infos }) => infos),
  };
  if (fell.size === 0) return { ...late, fallen: NONE_FALLEN };
  const found = asked.map((each) => each.found);
  const windowStart = Math.min(...asked.flatMap((each) => (each.fell.size > 0 ? [each.windowStart] : [])));
  const fallen = await fallenOf(queries, { fell, found, windowStart }, resolver, deadline, options);
  return { ...late, fallen };
}
