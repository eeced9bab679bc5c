import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { add, type Devices, type LateSamples } from '../../series/lateSamples.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { FALL_MARGIN_SECONDS, FALL_WINDOWS, type UsageQuery } from '../queries.ts';
import type { QueryRunner } from '../queryRunner.ts';
import { bothOf, fallenOf, type LateOptions } from './fallenCounters.ts';

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
export class HiddenFalls {
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
      { fell, found: [found], windowStart, isGuess: true },
      resolver,
      deadline,
      options,
    );
    const { fallen } = late;
    return {
      ...late,
      fallen: { transmit: bothOf(fallen.transmit, transmit), receive: bothOf(fallen.receive, receive) },
    };
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
