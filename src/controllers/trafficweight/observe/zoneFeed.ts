import { isDeepStrictEqual } from 'node:util';
import { parseTrafficWeightSpec, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { LinkedAbort } from '../../../runtime/async/deadline.ts';
import { metaTime } from '../../../runtime/controller/conditions.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { messageOf } from '../../../weights/backend/backend.ts';
import {
  zoneOf,
  type PageStart,
  type StatedSet,
  type Zone,
  type ZonePage,
  type ZoneReader,
} from '../../../weights/zone/recordSets.ts';
import type { ZoneView } from './observation.ts';

/** Milliseconds from the end of one read to the next, times the requests of the read: a zone of 10,000 record sets takes 34. */
const PERIOD_MS = 20_000;
/** How soon a new zone is noticed: milliseconds. Nothing is sent meanwhile. */
const TICK_MS = 500;

export interface ZoneFeedOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** By the ID of a zone, the names of the TrafficWeights that publish in it, as they are now. */
  readonly zones: () => ReadonlyMap<string, readonly string[]>;
  /** Called before the first read. */
  readonly createReader: () => Promise<ZoneReader>;
  /** A standby does not read. */
  readonly isLeader: () => boolean;
  /** Called for each TrafficWeight of a zone if the view of the zone has changed. */
  readonly onChange: (name: string) => void;
}

/** A zone and its last results. */
interface Polled {
  readonly id: string;
  names: readonly string[];
  view?: ZoneView;
  /** When it was last read, ms since 1970. */
  readAt?: number;
  /** When this read began. Not in `view`: it changes with each read. */
  readFrom?: number;
  dueAt: number;
  /** Aborted when no TrafficWeight uses the zone any longer. */
  readonly unused: AbortController;
}

/**
 * Reads the hosted zones of all TrafficWeights repeatedly, one after the other, and keeps the last results. On average it sends one
 * request in 20 s for each zone, also if requests fail.
 */
export class ZoneFeed {
  readonly #options: ZoneFeedOptions;
  readonly #polled = new Map<string, Polled>();
  #reader: ZoneReader | undefined;
  #isReading = false;

  constructor(options: ZoneFeedOptions) {
    this.#options = options;
  }

  /** Returns the last results of these zones. A zone without `zone` and `failure` is being read for the first time. */
  views(ids: readonly string[]): ZoneView[] {
    return ids.map((id) => {
      const { view = { id }, readFrom } = this.#polled.get(id) ?? {};
      return { ...view, ...(readFrom !== undefined && { readFrom }) };
    });
  }

  /** Reads until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, zones, isLeader } = this.#options;
    while (!stop.aborted) {
      this.#adopt(isLeader() ? zones() : new Map());
      void this.#readNext();
      await clock.sleep(TICK_MS, stop);
    }
    this.#adopt(new Map());
  }

  #adopt(zones: ReadonlyMap<string, readonly string[]>): void {
    for (const [id, { unused }] of this.#polled) {
      if (zones.has(id)) continue;
      unused.abort();
      this.#polled.delete(id);
    }
    for (const [id, names] of zones) {
      const polled = this.#polled.get(id);
      if (polled === undefined) this.#polled.set(id, { id, names, dueAt: 0, unused: new AbortController() });
      else polled.names = names;
    }
    if (zones.size > 0) return;
    this.#reader?.close();
    this.#reader = undefined;
  }

  /** Reads the zone that has been due longest, unless a zone is being read. */
  async #readNext(): Promise<void> {
    const now = this.#options.clock.monotonic();
    const due = [...this.#polled.values()].filter(({ dueAt }) => dueAt <= now);
    const [next] = due.sort((a, b) => a.dueAt - b.dueAt);
    if (next === undefined || this.#isReading) return;
    this.#isReading = true;
    try {
      await this.#read(next);
    } finally {
      this.#isReading = false;
    }
  }

  async #read(polled: Polled): Promise<void> {
    const { clock } = this.#options;
    const { id, unused } = polled;
    let requests = 0;
    const readFrom = clock.now();
    try {
      const reader = (this.#reader ??= await this.#options.createReader());
      const onRequest = (): void => void (requests += 1);
      const zone = await readZone(id, { reader, clock, signal: unused.signal, onRequest });
      polled.readAt = clock.now();
      polled.readFrom = readFrom;
      this.#show(polled, { id, zone });
    } catch (error) {
      const { view, readAt } = polled;
      const since = readAt === undefined ? {} : { lastRead: metaTime(readAt) };
      this.#show(polled, { ...view, id, failure: messageOf(error), ...since });
    }
    polled.dueAt = clock.monotonic() + PERIOD_MS * Math.max(1, requests);
  }

  #show(polled: Polled, view: ZoneView): void {
    const before = polled.view;
    if (polled.unused.signal.aborted || isDeepStrictEqual(before, view)) return;
    polled.view = view;
    if (before?.failure !== view.failure) this.#log(polled, view);
    for (const name of polled.names) this.#options.onChange(name);
  }

  #log({ names }: Polled, { id, failure }: ZoneView): void {
    const about = { trafficweights: names, hostedZone: id };
    if (failure === undefined) this.#options.logger.info(about, 'the hosted zone is read again');
    else this.#options.logger.warn({ ...about, detail: failure }, 'the hosted zone cannot be read');
  }
}

/** Pause between two pages, ms: external-dns needs the 5 requests a second of an account (DNSLimitations.html in the Route 53 developer guide). */
const PAUSE_MS = 1_000;
/** Limit for one page with all attempts, ms: the deadline of a client may not cover a body that never ends. */
const PAGE_MS = 60_000;

interface ReadOptions {
  readonly reader: ZoneReader;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before each request. */
  readonly onRequest: () => void;
}

/** Reads a zone page by page. @throws Error with a message for users; anything if `signal` is aborted */
async function readZone(id: string, o: ReadOptions): Promise<Zone> {
  const sets: StatedSet[] = [];
  let page = await readPage(id, undefined, o);
  sets.push(...page.sets);
  while (page.next !== undefined) {
    await o.clock.sleep(PAUSE_MS, o.signal);
    o.signal.throwIfAborted();
    const from = page.next;
    page = await readPage(id, from, o);
    if (isDeepStrictEqual(page.next, from)) throw new Error(`Route 53 (hosted zone ${id}) repeats a page`);
    sets.push(...page.sets);
  }
  return zoneOf(id, sets);
}

async function readPage(
  id: string,
  from: PageStart | undefined,
  { reader, clock, signal, onRequest }: ReadOptions,
): Promise<ZonePage> {
  const link = new LinkedAbort([signal], { clock, timeoutMs: PAGE_MS });
  onRequest();
  try {
    return await link.race(reader.page(id, from, link.signal));
  } catch (error) {
    if (!link.expired) throw error;
    throw new Error(`Route 53 (hosted zone ${id}) gave no complete answer within ${PAGE_MS / 1000} s`, {
      cause: error,
    });
  } finally {
    link.release();
  }
}

/** Returns the names of the TrafficWeights that publish in a hosted zone, by the ID of the zone. Invalid or deleted ones have no zones. */
export function zonesOf(weights: readonly TrafficWeight[]): Map<string, string[]> {
  const pairs = weights.flatMap((weight) => {
    if (weight.metadata?.deletionTimestamp !== undefined) return [];
    const parsed = parseTrafficWeightSpec(weight);
    const ids = 'problems' in parsed ? [] : (parsed.spec.hostedZoneIDs ?? []);
    return ids.map((id) => ({ id, name: weight.metadata?.name ?? '' }));
  });
  const byId = Map.groupBy(pairs, ({ id }) => id);
  return new Map([...byId].map(([id, each]) => [id, each.map(({ name }) => name)]));
}
