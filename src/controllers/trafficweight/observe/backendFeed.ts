import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { Failure } from '../../../runtime/status/failure.ts';
import { BackendError, type BackendWeights, type WeightBackend } from '../../../weights/backend/backend.ts';
import type { BackendView } from './observation.ts';

/** As k8s-traffic-controller: milliseconds from one read to the next. */
const PERIOD_MS = 20_000;
/** How soon a new TrafficWeight is noticed: milliseconds. Nothing is sent meanwhile. */
const TICK_MS = 500;

/** A backend to be read for the TrafficWeight `name`. */
export interface BackendOf<O> {
  readonly name: string;
  readonly options: O;
}

export interface BackendFeedOptions<O> {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly logger: Logger;
  /** One for each TrafficWeight that has a backend to be read. */
  readonly backends: () => readonly BackendOf<O>[];
  /** Called before the first read. */
  readonly create: (options: O) => Promise<WeightBackend>;
  /** A standby does not read. */
  readonly isLeader: () => boolean;
  /** Called if another weight was read, or whether it can be read has changed. */
  readonly onChange: (name: string) => void;
}

interface Polled<O> {
  readonly options: O;
  /** The options, as text. */
  readonly id: string;
  backend?: WeightBackend;
  dueAt: number;
  view?: BackendView;
}

/** Reads the backends of all TrafficWeights every 20 s, and keeps what was read last. */
export class BackendFeed<O> {
  readonly #options: BackendFeedOptions<O>;
  readonly #polled = new Map<string, Polled<O>>();

  constructor(options: BackendFeedOptions<O>) {
    this.#options = options;
  }

  /** What is known for the TrafficWeight `name`; undefined before the first read ended. */
  view(name: string): BackendView | undefined {
    return this.#polled.get(name)?.view;
  }

  /** Tells the backend that a weight is in force. A failure is in the view until the next read. Never rejects. */
  async acknowledge(name: string, weight: number, signal?: AbortSignal): Promise<void> {
    const polled = this.#polled.get(name);
    const weights = polled?.view?.weights;
    if (polled?.backend === undefined || weights === undefined) return;
    try {
      await polled.backend.acknowledge(weight, signal);
      polled.view = { weights: { ...weights, current: weight } };
    } catch (error) {
      this.#failed(name, polled, error);
    }
  }

  /** Reads until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, backends, isLeader } = this.#options;
    while (!stop.aborted) {
      this.#adopt(isLeader() ? backends() : []);
      const due = [...this.#polled].filter(([, { dueAt }]) => clock.monotonic() >= dueAt);
      await Promise.all(due.map(([name, polled]) => this.#poll(name, polled, stop)));
      await clock.sleep(TICK_MS, stop);
    }
    this.#adopt([]);
  }

  /** Other options make another backend: what was read of the former one is forgotten. */
  #adopt(wanted: readonly BackendOf<O>[]): void {
    const named = new Map(wanted.map(({ name, options }) => [name, { options, id: JSON.stringify(options) }]));
    for (const [name, { id, backend }] of this.#polled) {
      if (named.get(name)?.id === id) continue;
      backend?.close();
      this.#polled.delete(name);
    }
    for (const [name, one] of named) {
      if (!this.#polled.has(name)) this.#polled.set(name, { ...one, dueAt: 0 });
    }
  }

  async #poll(name: string, polled: Polled<O>, stop: AbortSignal): Promise<void> {
    polled.dueAt = this.#options.clock.monotonic() + PERIOD_MS;
    try {
      polled.backend ??= await this.#options.create(polled.options);
      this.#read(name, polled, await polled.backend.read(stop));
    } catch (error) {
      if (!stop.aborted) this.#failed(name, polled, error);
    }
  }

  #read(name: string, polled: Polled<O>, weights: BackendWeights): void {
    const { weights: known, failure } = polled.view ?? {};
    polled.view = { weights };
    if (failure !== undefined) this.#options.logger.info({ trafficweight: name }, 'the backend can be read again');
    const isSame = known?.desired === weights.desired && known.current === weights.current;
    if (!isSame || failure !== undefined) this.#options.onChange(name);
  }

  #failed(name: string, polled: Polled<O>, error: unknown): void {
    const failure = failureOf(error);
    const { weights, failure: before } = polled.view ?? {};
    polled.view = { ...(weights && { weights }), failure };
    if (before?.message === failure.message) return;
    this.#options.logger.warn({ trafficweight: name, detail: failure.message }, 'the backend cannot be read');
    this.#options.onChange(name);
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof BackendError) return { reason: error.reason, message: error.message };
  return { reason: 'BackendUnavailable', message: error instanceof Error ? error.name : 'unknown error' };
}
