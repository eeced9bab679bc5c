import { isDeepStrictEqual } from 'node:util';
import { LinkedAbort } from '../../../../runtime/client/transport/linkedAbort.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Logger } from '../../../../runtime/process/logger.ts';
import type { Failure } from '../../../../runtime/status/failure.ts';
import {
  BackendError,
  type BackendWeights,
  type ReadOptions,
  type WeightBackend,
} from '../../../../weights/backend/backend.ts';
import type { BackendView } from '../observation.ts';

/** As k8s-traffic-controller: milliseconds from one read to the next. */
const PERIOD_MS = 20_000;
/** How soon a new TrafficWeight is noticed: milliseconds. Nothing is sent meanwhile. */
const TICK_MS = 500;
/** Milliseconds for a read or an acknowledgement, with all that they repeat. */
const CALL_MS = 15_000;

/** What a backend has for one cluster. Several TrafficWeights may be of one cluster. */
export interface BackendRow<O> extends Pick<ReadOptions, 'initialWeight' | 'allowAllZero'> {
  /** Another text for another row. */
  readonly id: string;
  /** Of the backend. The same for the same ID. */
  readonly options: O;
  /** The TrafficWeights that have their weight from it. */
  readonly names: readonly string[];
  /** The weight that the cluster had before the first read; undefined if there is none. */
  readonly lastWeight: number | undefined;
  /** Whether the backend may be told what is in force: not while a TrafficWeight of the cluster is invalid. */
  readonly mayAcknowledge: boolean;
}

export interface BackendFeedOptions<O> {
  readonly clock: Clock;
  readonly logger: Logger;
  /** All rows, as they are now. */
  readonly rows: () => readonly BackendRow<O>[];
  /** Called before the first read. */
  readonly create: (options: O) => Promise<WeightBackend>;
  /** A standby does not read. */
  readonly isLeader: () => boolean;
  /** Called for each TrafficWeight of a row if the view of the row has changed. */
  readonly onChange: (name: string) => void;
}

/** A row and what is known of it. Its calls follow one another. */
interface Polled<O> {
  row: BackendRow<O>;
  backend?: WeightBackend;
  view?: BackendView;
  dueAt: number;
  isBusy: boolean;
  /** What each TrafficWeight had in force, by its name: the view that its records followed. */
  readonly inForce: Map<string, BackendView>;
  /** Whether the backend was told, or could not be, since the last read. */
  hasTried: boolean;
}

/**
 * Reads the rows of all TrafficWeights every 20 s, and keeps what was read last. Tells the backend when the desired weight
 * is in force in all TrafficWeights of a row. A row that does not answer keeps no other one waiting.
 */
export class BackendFeed<O> {
  readonly #options: BackendFeedOptions<O>;
  readonly #polled = new Map<string, Polled<O>>();
  /** Undefined before it runs. */
  #stop: AbortSignal | undefined;

  constructor(options: BackendFeedOptions<O>) {
    this.#options = options;
  }

  /** What is known of a row; undefined before the first read ended. */
  view(id: string): BackendView | undefined {
    return this.#polled.get(id)?.view;
  }

  /**
   * Takes whether the weight of this view of a row is in force in the TrafficWeight `name`. The status of a TrafficWeight would not
   * do: it may be of an earlier time at which the same weight was desired.
   */
  setInForce(id: string, name: string, { view, isInForce }: { view: BackendView; isInForce: boolean }): void {
    const polled = this.#polled.get(id);
    if (polled === undefined) return;
    if (!isInForce) {
      polled.inForce.delete(name);
      return;
    }
    polled.inForce.set(name, view);
    // At once: the next reconcile, which may follow immediately, takes it back until it has ended.
    this.#look();
  }

  /** Reads until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    this.#stop = stop;
    while (!stop.aborted) {
      this.#look();
      await this.#options.clock.sleep(TICK_MS, stop);
    }
    this.#adopt([]);
  }

  /** Begins what is due. */
  #look(): void {
    const { rows, isLeader } = this.#options;
    if (this.#stop === undefined || this.#stop.aborted) return;
    this.#adopt(isLeader() ? rows() : []);
    for (const polled of this.#polled.values()) void this.#attend(polled, this.#stop);
  }

  #adopt(rows: readonly BackendRow<O>[]): void {
    const wanted = new Map(rows.map((row) => [row.id, row]));
    for (const [id, { backend }] of this.#polled) {
      if (wanted.has(id)) continue;
      backend?.close();
      this.#polled.delete(id);
    }
    for (const [id, row] of wanted) {
      const polled = this.#polled.get(id);
      if (polled !== undefined) replaceRow(polled, row);
      else this.#polled.set(id, { row, dueAt: 0, isBusy: false, inForce: new Map(), hasTried: false });
    }
  }

  async #attend(polled: Polled<O>, stop: AbortSignal): Promise<void> {
    const isDue = this.#options.clock.monotonic() >= polled.dueAt;
    if (polled.isBusy || !(isDue || needsAcknowledgement(polled))) return;
    polled.isBusy = true;
    try {
      await (isDue ? this.#read(polled, stop) : this.#acknowledge(polled, stop));
    } finally {
      polled.isBusy = false;
    }
  }

  async #read(polled: Polled<O>, stop: AbortSignal): Promise<void> {
    polled.dueAt = this.#options.clock.monotonic() + PERIOD_MS;
    const known = polled.view?.weights;
    try {
      const backend = await this.#backendOf(polled);
      const { lastWeight, initialWeight, allowAllZero } = polled.row;
      const options = { known: known?.desired ?? lastWeight, initialWeight, allowAllZero };
      const weights = await this.#inTime(stop, (signal) => backend.read(options, signal));
      polled.hasTried = false;
      this.#show(polled, viewAfter(weights, polled.view));
    } catch (error) {
      if (!stop.aborted) this.#show(polled, { ...heldBy(error), ...polled.view, failure: failureOf(error) });
    }
  }

  async #acknowledge(polled: Polled<O>, stop: AbortSignal): Promise<void> {
    const { backend, view } = polled;
    const weights = view?.weights;
    if (backend?.acknowledge === undefined || weights === undefined) return;
    const weight = weights.desired;
    polled.hasTried = true;
    try {
      const isTold = await this.#inTime(stop, async (signal) => backend.acknowledge?.(weight, signal));
      // If not, another weight is desired by now, which the next read tells.
      if (isTold === true) this.#show(polled, { weights: { desired: weight, current: weight } });
    } catch (error) {
      if (!stop.aborted) this.#show(polled, { weights, unacknowledged: failureOf(error) });
    }
  }

  async #backendOf(polled: Polled<O>): Promise<WeightBackend> {
    polled.backend ??= await this.#options.create(polled.row.options);
    if (this.#isPolled(polled)) return polled.backend;
    polled.backend.close();
    throw new BackendError('BackendUnavailable', 'it was not needed any more when it was ready');
  }

  /** Limits a call: what a client takes for its deadline may not count a body that never ends. */
  async #inTime<T>(stop: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const link = new LinkedAbort([stop], { clock: this.#options.clock, timeoutMs: CALL_MS });
    try {
      return await link.race(call(link.signal));
    } catch (error) {
      if (!link.expired) throw error;
      throw new BackendError('BackendUnavailable', `the backend gave no complete answer within ${CALL_MS / 1000} s`);
    } finally {
      link.release();
    }
  }

  #isPolled(polled: Polled<O>): boolean {
    return this.#polled.get(polled.row.id) === polled;
  }

  #show(polled: Polled<O>, view: BackendView): void {
    if (!this.#isPolled(polled)) return;
    const before = polled.view;
    // The same object while nothing changes: what is in force refers to it.
    if (isDeepStrictEqual(before, view)) return;
    polled.view = view;
    this.#log(polled.row, before, view);
    for (const name of polled.row.names) this.#options.onChange(name);
  }

  #log({ names }: BackendRow<O>, before: BackendView = {}, view: BackendView): void {
    const { logger } = this.#options;
    const about = { trafficweights: names };
    const tell = (was: Failure | undefined, is: Failure | undefined, what: string): void => {
      if (was?.message === is?.message) return;
      if (is === undefined) logger.info(about, `${what} again`);
      else logger.warn({ ...about, detail: is.message }, `not ${what}`);
    };
    tell(before.failure, view.failure, 'following the weight of the backend');
    tell(before.unacknowledged, view.unacknowledged, 'telling the backend that the weight is in force');
  }
}

/** A TrafficWeight that is gone, and may be made anew, has nothing in force. */
function replaceRow<O>(polled: Polled<O>, row: BackendRow<O>): void {
  polled.row = row;
  for (const name of polled.inForce.keys()) if (!row.names.includes(name)) polled.inForce.delete(name);
}

function needsAcknowledgement<O>({ row, view, inForce, hasTried, backend }: Polled<O>): boolean {
  const { weights, failure } = view ?? {};
  if (backend?.acknowledge === undefined || weights === undefined || failure !== undefined || hasTried) return false;
  const isInForce = row.names.every((name) => inForce.get(name) === view);
  return row.mayAcknowledge && isInForce && weights.current !== weights.desired;
}

/** The view after a read. That the backend could not be told of a weight stays until it has that weight, or another one is desired. */
function viewAfter(weights: BackendWeights, before: BackendView = {}): BackendView {
  const { desired, current } = weights;
  const isOpen = desired === before.weights?.desired && current !== desired;
  return isOpen && before.unacknowledged !== undefined
    ? { weights, unacknowledged: before.unacknowledged }
    : { weights };
}

/** What a failed read goes on with if nothing was read before. */
function heldBy(error: unknown): BackendView {
  const held = error instanceof BackendError ? error.held : undefined;
  return held === undefined ? {} : { weights: { desired: held, current: held } };
}

function failureOf(error: unknown): Failure {
  if (error instanceof BackendError) return { reason: error.reason, message: error.message };
  return { reason: 'BackendUnavailable', message: error instanceof Error ? error.name : 'unknown error' };
}
