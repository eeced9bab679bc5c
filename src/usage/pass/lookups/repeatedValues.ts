import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import type { NodeFacts } from '../../evaluate/nodeFacts.ts';
import { LONGEST_SILENCE_SECONDS } from '../../evaluate/rateProblems.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { newestQuery } from '../queries.ts';
import type { QueryRunner } from '../queryRunner.ts';
import { groupsForQueries, MOST_NODES, restrictionOf } from './restriction.ts';

/** The bytes that a node has sent so far, all devices together. Times in seconds since 1970, by the server's clock. */
interface Sent {
  readonly bytes: number;
  /** The first pass that saw it. */
  readonly since: number;
  /** Rates are wrong until then, since their window has repeated values. */
  readonly wrongUntil: number;
}

/** The data that a pass has read. */
interface Seen {
  /** Empty if the pass did not read them. */
  readonly facts: ReadonlyMap<string, Pick<NodeFacts, 'sentByAll'>>;
  readonly rates: ReadonlyMap<string, NodeSamples>;
  /** When the facts were read, seconds since 1970. */
  readonly timeSeconds: number;
}

/**
 * The slope of counters that have stood still for a quarter of the window is 16 % too low. A shorter time would also find sound nodes: between two
 * of the four scrapes of a window, counters stand still that long.
 */
const OF_WINDOW = 1 / 4;

/**
 * Finds nodes whose counters get samples, but stand still: an exporter, or what collects its samples, repeats old values. The slope through them falls
 * gradually, so a full node would look less and less full.
 *
 * | the counters of all devices                            | result                                              |
 * |--------------------------------------------------------|-----------------------------------------------------|
 * | are the same for 20 s or a quarter of the window, whichever is longer, with samples | repeated, until the window has none of these samples |
 * | are the same, without samples                          | not repeated: the rate is of the samples before     |
 * | move                                                   | not repeated                                        |
 */
export class RepeatedValues {
  readonly #queries: QueryRunner;
  readonly #windowSeconds: number;
  #nodes = new Map<string, Sent>();
  #timeSeconds = 0;

  constructor(queries: QueryRunner, { windowSeconds }: { windowSeconds: number }) {
    this.#queries = queries;
    this.#windowSeconds = windowSeconds;
  }

  /**
   * Call it in each pass. Sends queries only if counters have not moved for that long, about MOST_NODES nodes at most, in groups for queries of 16 KiB.
   * Nodes about which Prometheus does not answer within a quarter of the time of the pass are not repeated.
   *
   * Rejects with the abort reason of the deadline, or an error that is not one of Prometheus.
   */
  async find(seen: Seen, resolver: NodeResolver, deadline: Deadline): Promise<ReadonlySet<string>> {
    const now = seen.timeSeconds;
    this.#see(seen);
    const least = Math.max(LONGEST_SILENCE_SECONDS, OF_WINDOW * this.#windowSeconds);
    const unmoved = [...this.#nodes].filter(([, { since }]) => now - since >= least).map(([name]) => name);
    const queriesOf = (some: readonly string[]): string[] => [
      newestQuery(this.#queries.query, restrictionOf(some, [seen.rates])),
    ];
    const groups = groupsForQueries(unmoved.slice(0, MOST_NODES), queriesOf);
    const newest = unmoved.length === 0 ? [] : await this.#newestOf(groups, seen, resolver, deadline);
    for (const [name, time] of newest) {
      const sent = this.#nodes.get(name);
      if (sent === undefined || time - sent.since < LONGEST_SILENCE_SECONDS) continue;
      this.#nodes.set(name, { ...sent, wrongUntil: now + this.#windowSeconds });
    }
    return new Set([...this.#nodes].filter(([, { wrongUntil }]) => now < wrongUntil).map(([name]) => name));
  }

  #see({ facts, timeSeconds }: Seen): void {
    const before = timeSeconds >= this.#timeSeconds ? this.#nodes : new Map<string, Sent>();
    this.#timeSeconds = timeSeconds;
    this.#nodes = new Map();
    for (const [node, { sentByAll: bytes }] of facts) {
      const known = before.get(node);
      const isSame = known?.bytes === bytes;
      this.#nodes.set(node, isSame ? known : { bytes, since: timeSeconds, wrongUntil: known?.wrongUntil ?? 0 });
    }
  }

  /** The time of the newest sample of each node. */
  async #newestOf(
    groups: Iterable<readonly string[]>,
    { rates }: Seen,
    resolver: NodeResolver,
    deadline: Deadline,
  ): Promise<Map<string, number>> {
    const newest = new Map<string, number>();
    await this.#queries.lookUp(deadline, async (soon) => {
      for (const names of groups) {
        const found = await this.#queries.newest(resolver, soon, restrictionOf(names, [rates]));
        // An answer after the deadline is not used.
        soon.signal.throwIfAborted();
        for (const [name, { devices }] of found) {
          newest.set(name, Math.max(...Array.from(devices.values(), ({ newest: time = 0 }) => time)));
        }
      }
    });
    return newest;
  }
}
