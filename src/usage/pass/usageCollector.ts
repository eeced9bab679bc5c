import type { Clock } from '../../runtime/process/clock.ts';
import { DeviceFilters } from '../evaluate/devices/deviceFilter.ts';
import { DEFAULT_EXCLUDED_DEVICES, wholeName } from '../evaluate/devices/devices.ts';
import { SeriesCache } from '../series/seriesCache.ts';
import { createNodeResolver } from '../../nodes/nodeNames.ts';
import type { KnownNode, NodeResolver } from '../../nodes/nodeNames.ts';
import { FactsCondenser, type NodeFacts } from '../evaluate/nodeFacts.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import { RateTable } from '../series/rateTable.ts';
import type { NodeUsage } from '../evaluate/percent.ts';
import { alwaysSends, silenceTells } from '../evaluate/rateProblems.ts';
import { NO_READINGS, type Reading, type Readings } from '../evaluate/reading.ts';
import { evaluateNodes, evaluateReadings, mappedInTurns, type Answers, type Part } from './evaluation.ts';
import { orAborted, type Deadline } from '../../prometheus/deadline.ts';
import { unattributedOf, type Strays, type Snapshot } from '../evaluate/snapshot.ts';
import { dropLate, type LateSamples } from '../series/lateSamples.ts';
import { COUNTED, COUNTED_WITH_TWO, PEAK_WINDOW_SECONDS } from './queries.ts';
import type { UsageQuery } from './queries.ts';
import { ANSWER_OF_MANY_MS, type Answered, type Background, type QueryRunner } from './queryRunner.ts';
import { ReadingTime } from './readingTime.ts';
import { countersOf, readReceived, ReceiveRates } from './receiveRates.ts';
import { Refreshed } from './refreshed.ts';
import type { SeriesDecoder } from '../series/seriesDecoder.ts';
import { readLate, LateReader } from './lookups/lateReader.ts';
import { onlyLive } from './lookups/liveSeries.ts';
import { RepeatedValues } from './lookups/repeatedValues.ts';
import { readSoundReplicas } from './lookups/soundReplicas.ts';
import { readUplinks } from './lookups/uplinks.ts';
import { Sampling } from './sampling.ts';

/** The result of a pass, without its number and start. */
export type Finding = Omit<Snapshot, 'pass' | 'startedAt'>;

/**
 * Up to this number of series (about 1,000 nodes of three devices) each pass reads the facts. Above, passes reuse them.
 */
const MOST_FACTS_IN_PASS = 20_000;
/** Up to this number of nodes, the answers with facts are read at the same time: they are a few megabytes. */
const MOST_NODES_AT_ONCE = 1_000;
/** Interval of the background query for facts, if a pass reuses them. */
const FACTS_EVERY_MS = 60_000;
/**
 * Maximum age of reused facts, from the start of their read. By default, Prometheus also uses a sample for this time (query.lookback-delta). See
 * "Facts of large clusters" in docs/devices.md.
 */
const OLDEST_FACTS_MS = 300_000;
/**
 * Interval of the query for speed drops of the last hour. The query also runs whenever the capacity of a node decreases
 * between two passes; the interval finds drops that no pass saw.
 */
const FALLEN_SPEEDS_EVERY_MS = 30_000;
/**
 * The same for a large cluster. With 10,000 nodes of three devices the query reads 22 million samples, a second of CPU
 * or more. So it runs every five minutes if no capacity decreases, and never sooner than the interval after its last
 * start. `restTimes` limits it to a tenth of Prometheus' time if it is slow or fails.
 */
const FALLEN_SPEEDS_OF_MANY = { freshMs: 300_000, soonestMs: FALLEN_SPEEDS_EVERY_MS, restTimes: 9 };

/** The facts of all nodes, reduced to what a pass needs. */
interface Facts extends Omit<Answered, 'decoded'> {
  nodes: ReadonlyMap<string, NodeFacts>;
  unattributed: Strays;
  /** Only if each pass reads the facts. */
  samples: ReadonlyMap<string, NodeSamples> | undefined;
  timeSeconds: number | undefined;
}

interface Readers {
  resolver: NodeResolver;
  deadline: Deadline;
  /** True for a large cluster: one answer with facts is read after the other. */
  areMany: boolean;
  /** True if counters of a node that stand still are repeated: see alwaysSends. */
  standingTells: boolean;
  readings: Readings;
}

/** Runs passes over all nodes: queries, then evaluates. Keeps the facts between passes if there are many. */
export class UsageCollector {
  readonly #queries: QueryRunner;
  readonly #query: UsageQuery;
  readonly #exclude: RegExp;
  readonly #background: Background;
  readonly #facts: Refreshed<Facts>;
  readonly #late: LateReader;
  readonly #repeated: RepeatedValues;
  readonly #sampling: Sampling;
  readonly #fallenSpeeds: Refreshed<Answered>;
  /** Result of the last pass. Decides only when to query for speed drops. */
  #before: ReadonlyMap<string, NodeUsage> = new Map();
  #rateTable = new RateTable();
  readonly #receiveRates: ReceiveRates;
  readonly #filters = new DeviceFilters();
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The last evaluation time of each reading, milliseconds. */
  readonly #costs = new WeakMap<Reading, number>();
  /** Labels of the series in the last answer with rates. */
  readonly #seriesCache = new SeriesCache();

  constructor(o: { queries: QueryRunner; query: UsageQuery; clock: Clock; background: Background }) {
    this.#queries = o.queries;
    this.#clock = o.clock;
    this.#receiveRates = new ReceiveRates(o.queries);
    this.#query = o.query;
    this.#exclude = wholeName(o.query.excludedDevices ?? DEFAULT_EXCLUDED_DEVICES);
    this.#background = o.background;
    this.#facts = new Refreshed<Facts>(o.clock, FACTS_EVERY_MS);
    this.#late = new LateReader(o);
    this.#repeated = new RepeatedValues(o);
    this.#sampling = new Sampling(o);
    this.#fallenSpeeds = new Refreshed<Answered>(o.clock, FALLEN_SPEEDS_EVERY_MS);
  }

  /**
   * Runs one pass. Throws PrometheusError if the rates or facts cannot be read, or the abort reason of the deadline.
   *
   * @param nodes the same map object as in the previous pass only if no node was added, removed or changed
   * @param now milliseconds since 1970; used if no sample has the time of the server
   * @param readings evaluated besides the default one, from the same answers
   */
  async next(
    nodes: ReadonlyMap<string, KnownNode>,
    now: number,
    deadline: Deadline,
    readings: Readings = NO_READINGS,
  ): Promise<Finding> {
    const beganAt = this.#clock.monotonic();
    const areMany = nodes.size > MOST_NODES_AT_ONCE;
    const silence = { silenceTells: silenceTells(this.#query, nodes.size) };
    const resolver = createNodeResolver(nodes);
    const readers = { resolver, deadline, areMany, readings, standingTells: alwaysSends(this.#query, nodes.size) };
    // What is left of a series that has ended can be one sample. In a large cluster `lateQuery` names it only after the pass, but a silent node has no percent.
    const scope = areMany && !silence.silenceTells ? COUNTED_WITH_TWO : COUNTED;
    this.#rateTable = this.#rateTable.next(nodes);
    const [rates, facts, received, told] = await Promise.all([
      this.#queries.rates(resolver, deadline, { scope, table: this.#rateTable, cache: this.#seriesCache }),
      this.#readFacts(readers),
      this.#receiveRates.read(readings, nodes, resolver, deadline, scope),
      this.#late.read(readers),
    ]);
    const late = await this.#late.withHidden(told, { facts, rates: rates.decoded.nodes }, readers);
    const timeSeconds = rates.decoded.timeSeconds ?? facts.timeSeconds;
    const at = timeSeconds ?? now / 1000;
    const all = { ...this.#answers(facts.nodes, rates, received, late), timeSeconds: at, resolver, ...silence };
    const live = { ...all, ...(await onlyLive(this.#queries, all, (found) => this.#factsOf(found), readers)) };
    await readSoundReplicas(this.#queries, live, { ...readers, nodes });
    const answers = { ...live, repeated: await this.#repeatedIn(facts, live, readers) };
    const usages = await evaluateNodes({ nodes, answers });
    // After the deadline, the next pass may already have overwritten these rates.
    deadline.signal.throwIfAborted();
    const { uplinks, problem } = await this.#addUplinks(usages, { nodes, answers }, readings, readers);
    // Last, so that the default reading waits for no other one.
    const figures = await evaluateReadings(readings, [{ nodes, answers }, ...uplinks], this.#time(beganAt, deadline));
    deadline.signal.throwIfAborted();
    if (hasLess(usages, this.#before)) this.#fallenSpeeds.expire();
    this.#before = usages;
    if (lacksFacts(usages, rates.decoded, facts)) this.#facts.expire();
    this.#readBeside(readers);
    return {
      ok: true,
      ...(timeSeconds === undefined ? {} : { timeSeconds }),
      nodes: usages,
      ...(figures && { readings: figures }),
      ...this.#sampling.value,
      ...unattributedOf(rates.decoded, facts.unattributed),
      warnings: distinct(rates.warnings, facts.warnings, late.warnings),
      infos: distinct(rates.infos, facts.infos, late.infos, problem),
    };
  }

  /**
   * Returns the results that a pass would have had some time ago: the rates of that time, with the facts and capacities that were read last.
   * Call it after a successful `next`. Throws what `next` throws.
   *
   * @param now milliseconds since 1970; used if no sample has the time of the server
   */
  async past(
    nodes: ReadonlyMap<string, KnownNode>,
    now: number,
    offsetSeconds: number,
    deadline: Deadline,
    readings: Readings = NO_READINGS,
  ): Promise<Finding> {
    const beganAt = this.#clock.monotonic();
    const resolver = createNodeResolver(nodes);
    const [rates, received, late] = await Promise.all([
      this.#queries.rates(resolver, deadline, { offsetSeconds }),
      readReceived(this.#queries, readings, resolver, deadline, { offsetSeconds }),
      readLate(this.#queries, resolver, deadline, { offsetSeconds, counters: countersOf(readings) }),
    ]);
    const at = rates.decoded.timeSeconds === undefined ? now / 1000 : rates.decoded.timeSeconds - offsetSeconds;
    const facts = this.#facts.value?.nodes ?? new Map<string, NodeFacts>();
    const silence = { silenceTells: silenceTells(this.#query, nodes.size) };
    const answers = { ...this.#answers(facts, rates, received, late), timeSeconds: at, resolver, ...silence };
    await readSoundReplicas(this.#queries, answers, { nodes, readings, resolver, deadline, offsetSeconds });
    const usages = await evaluateNodes({ nodes, answers });
    const figures = await evaluateReadings(readings, [{ nodes, answers }], this.#time(beganAt, deadline));
    deadline.signal.throwIfAborted();
    const found = unattributedOf(rates.decoded, rates.decoded);
    return {
      ok: true,
      timeSeconds: at,
      nodes: usages,
      ...(figures && { readings: figures }),
      ...found,
      warnings: distinct(rates.warnings, late.warnings),
      infos: distinct(rates.infos, late.infos),
    };
  }

  /** Resolves when no background query is running. */
  async settled(): Promise<void> {
    const background = [this.#facts, this.#late, this.#repeated, this.#sampling, this.#fallenSpeeds];
    await Promise.all(background.map((each) => each.settled()));
  }

  async #readFacts(readers: Readers): Promise<Facts> {
    const known = this.#facts.value;
    if (known && known.series > MOST_FACTS_IN_PASS && this.#facts.ageMs < OLDEST_FACTS_MS) return known;
    // On a large cluster the facts may take longer than a pass. The read continues, and the next pass joins it.
    return orAborted(
      this.#facts.renew(() => this.#askFacts(readers)),
      readers.deadline.signal,
    );
  }

  async #askFacts({ resolver, areMany }: Readers): Promise<Facts> {
    const { decoded, ...rest } = areMany
      ? await this.#queries.factsInTurn(resolver, this.#background)
      : await this.#background((deadline) => this.#queries.facts(resolver, deadline));
    const { timeSeconds, unmatched, ambiguous } = decoded;
    const samples = rest.series > MOST_FACTS_IN_PASS ? undefined : decoded.nodes;
    const unattributed = { unmatched, ambiguous };
    return { ...rest, nodes: await this.#factsOf(decoded.nodes), unattributed, samples, timeSeconds };
  }

  #factsOf(samples: ReadonlyMap<string, NodeSamples>): Promise<Map<string, NodeFacts>> {
    const condenser = new FactsCondenser(this.#exclude);
    return mappedInTurns(samples, (each) => condenser.condense(each));
  }

  #readBeside(readers: Readers): void {
    const queries = this.#queries;
    const { resolver, areMany } = readers;
    if ((this.#facts.value?.series ?? 0) > MOST_FACTS_IN_PASS) {
      this.#facts.refresh(() => this.#askFacts(readers));
      if (readers.standingTells) this.#repeated.refresh(resolver);
    }
    this.#fallenSpeeds.refresh(
      () => this.#background((deadline) => queries.fallenSpeeds(resolver, deadline), areMany ? ANSWER_OF_MANY_MS : 0),
      areMany ? FALLEN_SPEEDS_OF_MANY : {},
    );
    this.#late.refresh(readers);
    this.#sampling.refresh(resolver);
  }

  /** Returns the data by which all nodes are evaluated. Late devices, and devices with one sample, lose their rates. */
  #answers(
    facts: Answers['facts'],
    { decoded: { nodes: rates } }: Answered,
    received: Answers['received'],
    late: LateSamples,
  ): Omit<Answers, 'timeSeconds' | 'silenceTells' | 'resolver'> {
    dropLate(late.transmit, rates);
    dropLate(late.receive, received.nodes);
    return { facts, rates, received, late, peaks: this.#peaks(), filters: this.#filters };
  }

  /** The nodes whose counters repeat old values. Facts that passes reuse do not say what the counters are now. */
  async #repeatedIn(
    { series, timeSeconds }: Facts,
    { facts, timeSeconds: now }: Answers,
    { resolver, deadline, standingTells }: Readers,
  ): Promise<ReadonlySet<string> | undefined> {
    if (!standingTells) return undefined;
    if (series <= MOST_FACTS_IN_PASS) {
      const sent = new Map(Array.from(facts, ([node, { sentByAll }]) => [node, sentByAll]));
      await this.#repeated.look({ sent, timeSeconds }, resolver, deadline);
    }
    return this.#repeated.at(now);
  }

  /** Undefined if the answer is older than the hour that it describes, or if there is none. */
  #peaks(): ReadonlyMap<string, NodeSamples> | undefined {
    const isRecent = this.#fallenSpeeds.ageMs < PEAK_WINDOW_SECONDS * 1000;
    return isRecent ? this.#fallenSpeeds.value?.decoded.nodes : undefined;
  }

  #time(beganAt: number, { timeoutMs: deadlineMs }: Deadline): ReadingTime {
    return new ReadingTime(() => this.#clock.monotonic(), this.#costs, { beganAt, deadlineMs });
  }

  /**
   * Searches for uplinks of the nodes without series, and evaluates these nodes by the default reading.
   * @returns the nodes to evaluate by other readings. A failure does not fail the pass: it becomes an info.
   */
  async #addUplinks(
    usages: Map<string, NodeUsage>,
    { nodes, answers }: Part,
    readings: Readings,
    { resolver, deadline }: Readers,
  ): Promise<{ uplinks: Part[]; problem: string[] }> {
    const missing = [...usages.values()].filter(({ reason }) => reason === 'NoSeries').map(({ node }) => node);
    const uplinks: Part[] = [];
    try {
      const asked = { missing, nodes, readings };
      for await (const { facts, ...samples } of readUplinks(this.#queries, asked, resolver, deadline)) {
        const found = new Map(missing.filter((name) => facts.has(name)).map((name) => [name, nodes.get(name) ?? {}]));
        const theirs = { nodes: found, answers: { ...answers, ...samples, facts: await this.#factsOf(facts) } };
        for (const [name, usage] of await evaluateNodes(theirs)) usages.set(name, usage);
        uplinks.push(theirs);
      }
      return { uplinks, problem: [] };
    } catch (error) {
      const problem = `looking for veth uplinks: ${error instanceof Error ? error.message : 'failed'}`;
      return { uplinks, problem: [problem] };
    }
  }
}

function distinct(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

/** True if a node was added after the facts were read: it has a rate, no facts and no percent. */
function lacksFacts(usages: ReadonlyMap<string, NodeUsage>, rates: SeriesDecoder, facts: Facts): boolean {
  for (const { node, percent } of usages.values()) {
    if (percent === undefined && rates.nodes.has(node) && !facts.nodes.has(node)) return true;
  }
  return false;
}

/** True if the capacity of a node decreased between two passes that both measured it. */
function hasLess(now: ReadonlyMap<string, NodeUsage>, before: ReadonlyMap<string, NodeUsage>): boolean {
  for (const { node, capacityBytesPerSecond = Infinity } of now.values()) {
    if (capacityBytesPerSecond < (before.get(node)?.capacityBytesPerSecond ?? 0)) return true;
  }
  return false;
}
