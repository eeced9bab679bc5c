import { isDeepStrictEqual } from 'node:util';
import { LinkedAbort } from '../../../runtime/async/deadline.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import {
  BackendError,
  type BackendWeights,
  type ReadOptions,
  type WeightBackend,
} from '../../../weights/backend/backend.ts';
import type { BackendView } from './observation.ts';

/** Milliseconds from one read to the next, as in k8s-traffic-controller. */
const PERIOD_MS = 20_000;
/** How soon a new TrafficWeight is noticed: milliseconds. Nothing is sent meanwhile. */
const TICK_MS = 500;
/** Milliseconds for a read or an acknowledgement, including its retries. */
const CALL_MS = 15_000;

/** The weight of one cluster in a backend. Several TrafficWeights may use it. */
export interface BackendRow<O> extends Pick<ReadOptions, 'initialWeight' | 'allowAllZero'> {
  /** Unique for each row. */
  readonly id: string;
  /** The options of the backend. Equal for equal IDs. */
  readonly options: O;
  /** The TrafficWeights that use the weight. */
  readonly names: readonly string[];
  /** The weight that the cluster had before the first read; undefined if there is none. */
  readonly lastWeight: number | undefined;
  /** Whether the weight may be acknowledged to the backend: not while a TrafficWeight of the cluster is invalid. */
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

/** The weight that is active in a TrafficWeight. */
interface InForce {
  /** The view that has the weight. */
  readonly view: BackendView;
  /** Whether a host has a record with it. */
  readonly hasRecords: boolean;
}

/** A row and its last results. Its calls never overlap. */
interface Polled<O> {
  row: BackendRow<O>;
  backend?: WeightBackend;
  view?: BackendView;
  dueAt: number;
  isBusy: boolean;
  /** The state of each TrafficWeight in which a weight is active, by its name. */
  readonly inForce: Map<string, InForce>;
  /** Whether an acknowledgement was tried since the last read. */
  hasTried: boolean;
}

/**
 * Reads the rows of all TrafficWeights every 20 s, and keeps the last results. Acknowledges the desired weight to the backend
 * once it is active in all TrafficWeights of a row. A row that does not answer does not delay the other rows.
 */
export class BackendFeed<O> {
  readonly #options: BackendFeedOptions<O>;
  readonly #polled = new Map<string, Polled<O>>();
  /** Undefined before it runs. */
  #stop: AbortSignal | undefined;

  constructor(options: BackendFeedOptions<O>) {
    this.#options = options;
  }

  /** Returns the last results of a row; undefined before the first read ended. */
  view(id: string): BackendView | undefined {
    return this.#polled.get(id)?.view;
  }

  /**
   * Stores whether the weight of this view of a row is active in the TrafficWeight `name`. The status of the TrafficWeight does not
   * suffice: it may be from an earlier time when the same weight was requested.
   */
  setInForce(id: string, name: string, { isInForce, ...state }: InForce & { readonly isInForce: boolean }): void {
    const polled = this.#polled.get(id);
    if (polled === undefined) return;
    if (!isInForce) {
      polled.inForce.delete(name);
      return;
    }
    polled.inForce.set(name, state);
    // Acknowledge at once: the next reconcile, which may follow immediately, clears the entry until it has ended.
    this.#startDue();
  }

  /** Reads until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    this.#stop = stop;
    while (!stop.aborted) {
      this.#startDue();
      await this.#options.clock.sleep(TICK_MS, stop);
    }
    this.#adopt([]);
  }

  /** Starts the reads and acknowledgements that are due. */
  #startDue(): void {
    const { rows, isLeader } = this.#options;
    if (this.#stop === undefined || this.#stop.aborted) return;
    this.#adopt(isLeader() ? rows() : []);
    for (const polled of this.#polled.values()) void this.#attend(polled, this.#stop);
  }

  #adopt(rows: readonly BackendRow<O>[]): void {
    const rowById = new Map(rows.map((row) => [row.id, row]));
    for (const [id, { backend }] of this.#polled) {
      if (rowById.has(id)) continue;
      backend?.close();
      this.#polled.delete(id);
    }
    for (const [id, row] of rowById) {
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
      const isAcknowledged = await this.#inTime(stop, async (signal) => backend.acknowledge?.(weight, signal));
      // If not, another weight is requested by now: the next read returns it.
      if (isAcknowledged === true) this.#show(polled, { weights: { desired: weight, current: weight } });
    } catch (error) {
      if (!stop.aborted) this.#show(polled, { weights, unacknowledged: failureOf(error) });
    }
  }

  async #backendOf(polled: Polled<O>): Promise<WeightBackend> {
    polled.backend ??= await this.#options.create(polled.row.options);
    if (this.#isPolled(polled)) return polled.backend;
    polled.backend.close();
    throw new BackendError('BackendUnavailable', 'the backend was no longer needed when it was ready');
  }

  /** Limits the time of a call: the deadline of a client may not cover a body that never ends. */
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
    // Keep the same object while nothing changes: `inForce` compares by identity.
    if (isDeepStrictEqual(before, view)) return;
    polled.view = view;
    this.#log(polled.row, before, view);
    for (const name of polled.row.names) this.#options.onChange(name);
  }

  #log({ names }: BackendRow<O>, before: BackendView = {}, view: BackendView): void {
    const { logger } = this.#options;
    const about = { trafficweights: names };
    const logChange = (was: Failure | undefined, is: Failure | undefined, what: string): void => {
      if (was?.message === is?.message) return;
      if (is === undefined) logger.info(about, `${what} again`);
      else logger.warn({ ...about, detail: is.message }, `not ${what}`);
    };
    logChange(before.failure, view.failure, 'following the weight of the backend');
    logChange(before.unacknowledged, view.unacknowledged, 'acknowledging the weight to the backend');
  }
}

/** Replaces a row. A TrafficWeight that it no longer names has no active weight, also if it is created again. */
function replaceRow<O>(polled: Polled<O>, row: BackendRow<O>): void {
  polled.row = row;
  for (const name of polled.inForce.keys()) if (!row.names.includes(name)) polled.inForce.delete(name);
}

function needsAcknowledgement<O>({ row, view, inForce, hasTried, backend }: Polled<O>): boolean {
  const { weights, failure } = view ?? {};
  if (backend?.acknowledge === undefined || weights === undefined || failure !== undefined || hasTried) return false;
  const isInForce = row.names.every((name) => inForce.get(name)?.view === view);
  // A weight of no record would let other clusters go to 0.
  const hasTraffic = weights.desired === 0 || row.names.some((name) => inForce.get(name)?.hasRecords);
  return row.mayAcknowledge && isInForce && hasTraffic && weights.current !== weights.desired;
}

/** Returns the view after a read. It keeps a failed acknowledgement until the backend has the weight, or requests another weight. */
function viewAfter(weights: BackendWeights, before: BackendView = {}): BackendView {
  const { desired, current } = weights;
  const isOpen = desired === before.weights?.desired && current !== desired;
  return isOpen && before.unacknowledged !== undefined
    ? { weights, unacknowledged: before.unacknowledged }
    : { weights };
}

/** Returns the weights that a failed first read falls back to. */
function heldBy(error: unknown): BackendView {
  const held = error instanceof BackendError ? error.held : undefined;
  return held === undefined ? {} : { weights: { desired: held, current: held } };
}

function failureOf(error: unknown): Failure {
  if (error instanceof BackendError) return { reason: error.reason, message: error.message };
  return { reason: 'BackendUnavailable', message: error instanceof Error ? error.name : 'unknown error' };
}
