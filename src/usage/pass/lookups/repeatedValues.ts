import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { SeriesVisitor } from '../../../prometheus/answer.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { LONGEST_SILENCE_SECONDS } from '../../evaluate/rateProblems.ts';
import type { UsageQuery } from '../queries.ts';
import { ANSWER_OF_MANY_MS, type Background, type QueryRunner } from '../queryRunner.ts';
import { Refreshed } from '../refreshed.ts';

/** The bytes that a node has sent so far, all devices together. Times in seconds since 1970, by the server's clock. */
interface Sent {
  readonly bytes: number;
  /** When that number was read first. -Infinity if it is the first of the node: its counters may have stood still before. */
  readonly since: number;
}

/** The bytes that each node has sent so far. */
interface Totals {
  readonly sent: ReadonlyMap<string, number>;
  /** When they were read, seconds since 1970. Undefined if there is none: then nothing is seen. */
  readonly timeSeconds: number | undefined;
}

/**
 * The slope of counters that have stood still for a quarter of the window is 16 % too low. A shorter time would also find sound nodes: between two
 * of the four scrapes of a window, counters stand still that long.
 */
const OF_WINDOW = 1 / 4;

/** Interval of the background queries, at most one after each pass. */
const TOTALS_EVERY_MS = 5_000;

/**
 * Finds nodes whose counters get samples, but stand still: an exporter, or what collects its samples, repeats old values. The slope through them falls
 * gradually, so a full node would look less and less full.
 *
 * | the counters of all devices                            | result                                              |
 * |--------------------------------------------------------|-----------------------------------------------------|
 * | are the same for 20 s or a quarter of the window, whichever is longer, with samples | repeated, until the window has none of these samples |
 * | are the same, without samples                          | not repeated: the rate is of the samples before     |
 * | move                                                   | not repeated                                        |
 *
 * What was found outlasts the series of the node, which often end for a moment when the repeats do, and a clock of the server that is set back.
 */
export class RepeatedValues {
  readonly #queries: QueryRunner;
  readonly #background: Background;
  readonly #windowSeconds: number;
  readonly #asked: Refreshed<void>;
  #nodes = new Map<string, Sent>();
  /** The nodes whose counters were found to repeat values, and have not moved since. */
  readonly #repeating = new Set<string>();
  /** Node name -> its rates are wrong until then, since their window has repeated values. */
  readonly #wrongUntil = new Map<string, number>();

  constructor(o: { queries: QueryRunner; query: UsageQuery; clock: Clock; background: Background }) {
    this.#queries = o.queries;
    this.#background = o.background;
    this.#windowSeconds = o.query.windowSeconds;
    this.#asked = new Refreshed<void>(o.clock, TOTALS_EVERY_MS);
  }

  /** The nodes whose rates have repeated values at this time, seconds since 1970. */
  at(now: number): ReadonlySet<string> {
    return new Set([...this.#wrongUntil].filter(([, until]) => now < until).map(([name]) => name));
  }

  /**
   * Call it in each pass that has read the counters. Sends one query, and only if the counters of a node have not moved for that long, or the node is new. If Prometheus does not
   * answer within a quarter of the time of the pass, no further node is repeated.
   *
   * Rejects with the abort reason of the deadline, or an error that is not one of Prometheus.
   */
  async look({ sent, timeSeconds: now }: Totals, resolver: NodeResolver, deadline: Deadline): Promise<void> {
    if (now === undefined) return;
    this.#see(sent, now);
    const least = Math.max(LONGEST_SILENCE_SECONDS, OF_WINDOW * this.#windowSeconds);
    if (![...this.#nodes.values()].some(({ since }) => now - since >= least)) return;
    await this.#queries.lookUp(deadline, async (soon) => {
      const standing = new NodeNumbers(resolver, Math.max);
      await this.#queries.standing(standing, soon, least);
      // An answer after the deadline is not used.
      soon.signal.throwIfAborted();
      for (const [name, moved] of standing.byNode) {
        if (moved !== 0 || !this.#nodes.has(name)) continue;
        this.#repeating.add(name);
        this.#wrongUntil.set(name, now + this.#windowSeconds);
      }
    });
  }

  /** Call it after each pass over a cluster so large that passes do not read the counters: reads them, and looks, in the background. */
  refresh(resolver: NodeResolver): void {
    this.#asked.refresh(() => this.#background((deadline) => this.#ask(resolver, deadline), ANSWER_OF_MANY_MS));
  }

  /** Resolves when no background query is running. */
  settled(): Promise<void> {
    return this.#asked.settled();
  }

  async #ask(resolver: NodeResolver, deadline: Deadline): Promise<void> {
    const sent = new NodeNumbers(resolver, (one, other) => one + other);
    await this.#queries.totals(sent, deadline);
    deadline.signal.throwIfAborted();
    await this.look({ sent: sent.byNode, timeSeconds: sent.timeSeconds }, resolver, deadline);
  }

  #see(sent: Totals['sent'], now: number): void {
    const before = this.#nodes;
    this.#nodes = new Map();
    for (const [node, bytes] of sent) {
      const known = before.get(node);
      const isSame = known?.bytes === bytes && known.since <= now;
      this.#nodes.set(node, isSame ? known : { bytes, since: known === undefined ? -Infinity : now });
    }
    const longest = now + this.#windowSeconds;
    for (const node of this.#repeating) {
      if (before.get(node)?.bytes === sent.get(node)) continue;
      this.#repeating.delete(node);
      // The last repeated sample may have come after the look before.
      this.#wrongUntil.set(node, longest);
    }
    for (const [node, until] of this.#wrongUntil) {
      if (until <= now) this.#wrongUntil.delete(node);
      else if (until > longest) this.#wrongUntil.set(node, longest);
    }
  }
}

/** Reads one number of each node from an answer whose series have the labels `node` and `instance`. Leaves out what is no number. */
class NodeNumbers implements SeriesVisitor {
  readonly byNode = new Map<string, number>();
  /** Evaluation time of the server, seconds since 1970; undefined without series. */
  timeSeconds: number | undefined;
  readonly #resolver: NodeResolver;
  readonly #together: (one: number, other: number) => number;

  /** @param together merges the numbers of two series of a node */
  constructor(resolver: NodeResolver, together: (one: number, other: number) => number) {
    this.#resolver = resolver;
    this.#together = together;
  }

  /** @param series an element of a vector: `{metric, value: [time, text]}` */
  visit(series: unknown): void {
    const { metric, value } = series as { metric?: Record<string, string>; value?: [number, string] };
    const number = Number(value?.[1]);
    const node = this.#resolver.resolve(metric?.node, metric?.instance);
    if (value === undefined || typeof node !== 'string' || !Number.isFinite(number)) return;
    this.timeSeconds = value[0];
    const known = this.byNode.get(node);
    this.byNode.set(node, known === undefined ? number : this.#together(known, number));
  }
}
