import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { add, type Devices, type LateSamples } from '../../series/lateSamples.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { FALL_MARGIN_SECONDS, FALL_WINDOWS, windowStartAt, type UsageQuery } from '../queries.ts';
import type { QueryRunner } from '../queryRunner.ts';
import { fallenOf, withFallen, type LateOptions } from './fallenCounters.ts';

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

/** The counter of a device that the newest answer lacks. */
interface Absent {
  readonly total: number;
  /** Until when the window may have samples of it, seconds since 1970. */
  readonly until: number;
}

/** As many as a pass reads facts of, so that devices with ever new names take little memory. */
const MOST_ABSENT = 20_000;

/**
 * Finds counters that fell from one pass to the next although the server tells of no fall: Thanos gives the function resets() counters without resets
 * (https://github.com/thanos-io/thanos/issues/3644). Then it asks for their samples, and sends no query otherwise. Only these prove a fall: two
 * Prometheus servers behind one Service also have other counters in each pass. A node that reboots is absent from some passes: its counters of before are
 * compared until the window has none of their samples.
 */
export class HiddenFalls {
  readonly #queries: QueryRunner;
  readonly #query: UsageQuery;
  #before: Totals = { timeSeconds: 0 };
  readonly #absent = new Map<string, Absent>();
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
    const suspects = { fell, found: [found], windowStart: windowStartAt(now, this.#query), isGuess: true } as const;
    return withFallen(late, await fallenOf(this.#queries, suspects, resolver, deadline, options));
  }

  #compare(totals: Totals, now: number): void {
    const before = this.#before;
    this.#before = totals;
    if (totals.samples === undefined) return;
    this.#remember(before, totals.samples);
    for (const [node, { devices }] of totals.samples) {
      const earlier = before.samples?.get(node)?.devices;
      for (const [name, { total = NaN }] of devices) {
        if (Number.isNaN(total)) continue;
        const last = earlier?.get(name)?.total ?? this.#recall(node, name, now);
        if (total >= last) continue;
        const known = this.#suspects.get(node)?.devices ?? new Set();
        this.#suspects.set(node, { devices: known.add(name), until: this.#untilAfter(now) });
      }
    }
  }

  /** Keeps the counters of the previous pass that this one lacks, and forgets those whose window has passed. */
  #remember({ samples, timeSeconds = 0 }: Totals, now: NonNullable<Totals['samples']>): void {
    const until = this.#untilAfter(timeSeconds);
    for (const [node, { devices }] of samples ?? []) {
      const present = now.get(node)?.devices;
      for (const [name, { total = NaN }] of devices) {
        if (Number.isNaN(total) || present?.get(name)?.total !== undefined) continue;
        this.#absent.set(keyOf(node, name), { total, until });
      }
    }
    for (const [key, absent] of this.#absent) {
      if (this.#absent.size <= MOST_ABSENT && absent.until > timeSeconds) break;
      this.#absent.delete(key);
    }
  }

  /** Returns the counter of a device that was absent, and forgets it. -Infinity if it is not known. */
  #recall(node: string, device: string, now: number): number {
    if (this.#absent.size === 0) return -Infinity;
    const key = keyOf(node, device);
    const { total, until } = this.#absent.get(key) ?? NEVER_SEEN;
    this.#absent.delete(key);
    return now < until ? total : -Infinity;
  }

  #untilAfter(seconds: number): number {
    return seconds + FALL_WINDOWS * this.#query.windowSeconds + FALL_MARGIN_SECONDS;
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

const NEVER_SEEN: Absent = { total: -Infinity, until: -Infinity };

/** Neither has a space: names of nodes and of devices. */
function keyOf(node: string, device: string): string {
  return `${node} ${device}`;
}
