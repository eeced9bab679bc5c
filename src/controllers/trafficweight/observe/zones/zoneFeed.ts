import { isDeepStrictEqual } from 'node:util';
import { LinkedAbort } from '../../../../runtime/client/transport/linkedAbort.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Logger } from '../../../../runtime/process/logger.ts';
import { messageOf } from '../../../../weights/backend/backend.ts';
import type { ZoneReader } from '../../../../weights/zone/zoneReader.ts';
import type { ZoneView } from '../observation.ts';

/**
 * Milliseconds from the end of one read to the next, for each request that it took: a zone of 10,000 record sets takes 34.
 * An account has 5 requests a second (DNSLimitations.html of Route 53's developer guide), which external-dns shares.
 */
const PERIOD_MS = 20_000;
/** How soon a new zone is noticed: milliseconds. Nothing is sent meanwhile. */
const TICK_MS = 500;
/** Milliseconds for one read. */
const READ_MS = 120_000;

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

interface Polled {
  names: readonly string[];
  view?: ZoneView;
  dueAt: number;
  isBusy: boolean;
}

/** Reads the hosted zones of all TrafficWeights, again and again, and keeps what was read last. */
export class ZoneFeed {
  readonly #options: ZoneFeedOptions;
  readonly #polled = new Map<string, Polled>();
  #reader: Promise<ZoneReader> | undefined;

  constructor(options: ZoneFeedOptions) {
    this.#options = options;
  }

  /** What is known of these zones; undefined until the first read of each has ended. */
  views(ids: readonly string[]): readonly ZoneView[] | undefined {
    const views = ids.map((id) => this.#polled.get(id)?.view);
    return views.every((view) => view !== undefined) ? views : undefined;
  }

  /** Reads until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, zones, isLeader } = this.#options;
    while (!stop.aborted) {
      this.#adopt(isLeader() ? zones() : new Map());
      for (const [id, polled] of this.#polled) void this.#attend(id, polled, stop);
      await clock.sleep(TICK_MS, stop);
    }
    this.#closeReader();
  }

  #adopt(zones: ReadonlyMap<string, readonly string[]>): void {
    for (const id of this.#polled.keys()) if (!zones.has(id)) this.#polled.delete(id);
    for (const [id, names] of zones) {
      const polled = this.#polled.get(id);
      if (polled === undefined) this.#polled.set(id, { names, dueAt: 0, isBusy: false });
      else polled.names = names;
    }
    if (zones.size === 0) this.#closeReader();
  }

  async #attend(id: string, polled: Polled, stop: AbortSignal): Promise<void> {
    if (polled.isBusy || this.#options.clock.monotonic() < polled.dueAt) return;
    polled.isBusy = true;
    const requests = await this.#read(id, polled, stop);
    polled.dueAt = this.#options.clock.monotonic() + PERIOD_MS * requests;
    polled.isBusy = false;
  }

  /** Resolves to the requests that it took. */
  async #read(id: string, polled: Polled, stop: AbortSignal): Promise<number> {
    const link = new LinkedAbort([stop], { clock: this.#options.clock, timeoutMs: READ_MS });
    try {
      this.#reader ??= this.#options.createReader();
      const reader = await this.#reader;
      const { zone, requests } = await link.race(reader.read(id, link.signal));
      this.#show(polled, { id, zone });
      return requests;
    } catch (error) {
      if (stop.aborted) return 1;
      const late = `Route 53 (hosted zone ${id}) gave no complete answer within ${READ_MS / 1000} s`;
      this.#show(polled, { ...polled.view, id, failure: link.expired ? late : messageOf(error) });
      return 1;
    } finally {
      link.release();
    }
  }

  #show(polled: Polled, view: ZoneView): void {
    const before = polled.view;
    if (this.#polled.get(view.id) !== polled || isDeepStrictEqual(before, view)) return;
    polled.view = view;
    if (before?.failure !== view.failure) this.#log(polled, view);
    for (const name of polled.names) this.#options.onChange(name);
  }

  #log({ names }: Polled, { id, failure }: ZoneView): void {
    const about = { trafficweights: names, hostedZone: id };
    if (failure === undefined) this.#options.logger.info(about, 'the hosted zone is read again');
    else this.#options.logger.warn({ ...about, detail: failure }, 'the hosted zone cannot be read');
  }

  #closeReader(): void {
    void this.#reader?.then(
      (reader) => reader.close(),
      () => undefined,
    );
    this.#reader = undefined;
  }
}
