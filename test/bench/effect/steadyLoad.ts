import { once } from 'node:events';
import { Agent } from 'node:http';
import { Worker } from 'node:worker_threads';
import { clock } from './clock.ts';
import { request, type Target } from './request.ts';

/** One request that ended. */
export interface Finished {
  /** From the time at which it was due to the last byte of the response; undefined for a request that failed. */
  readonly latencyMs?: number;
  /** How long after that time it was sent. */
  readonly lateMs: number;
}

export interface LoadOptions {
  /** The rate for all replicas together. */
  readonly requestsPerSecond: number;
  /** The size of each response. */
  readonly bytes: number;
  /** A request without a response after this time has failed. */
  readonly timeoutMs: number;
}

interface Window {
  readonly begin: number;
  readonly end: number;
  readonly sent: Promise<Finished>[];
  readonly resolve: (finished: Promise<Finished[]>) => void;
}

/**
 * Requests at a fixed rate, to one replica after the other. The load is open loop: a request is sent when it is due,
 * whatever became of the earlier ones. Its latency begins when it is due, so a stall of a replica or of this process
 * counts for every request that it delays, not only for one (coordinated omission).
 */
export class SteadyLoad {
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #pacer: Worker;
  #targets: readonly Target[];
  #turn = 0;
  #window?: Window;
  #failed = 0;

  private constructor(options: LoadOptions, targets: readonly Target[]) {
    this.#options = options;
    this.#targets = targets;
    const workerData = { intervalMs: 1_000 / options.requestsPerSecond };
    this.#pacer = new Worker(new URL('./pacer.ts', import.meta.url), { workerData });
    this.#pacer.on('message', (due: number) => this.#send(due));
  }

  /** Resolves when the first request is due: a thread takes a while to start. */
  static async start(options: LoadOptions, targets: readonly Target[]): Promise<SteadyLoad> {
    const load = new SteadyLoad(options, targets);
    await once(load.#pacer, 'message');
    return load;
  }

  /** Requests that failed so far, in a window or not. */
  get failed(): number {
    return this.#failed;
  }

  /** Sends to these replicas from now on. Without any, every request fails. */
  aimAt(targets: readonly Target[]): void {
    this.#targets = targets;
  }

  /** Resolves to the requests that were due within this time from now, when the last one has ended. */
  window(ms: number): Promise<Finished[]> {
    const begin = clock();
    return new Promise((resolve) => {
      this.#window = { begin, end: begin + ms, sent: [], resolve };
    });
  }

  async stop(): Promise<void> {
    await this.#pacer.terminate();
    this.#agent.destroy();
  }

  #send(due: number): void {
    const finished = this.#finish(due);
    const window = this.#window;
    if (window === undefined || due < window.begin) return;
    if (due < window.end) {
      window.sent.push(finished);
      return;
    }
    // Not by a timer: a request that is due within the window may be sent after its end.
    this.#window = undefined;
    window.resolve(Promise.all(window.sent));
  }

  async #finish(due: number): Promise<Finished> {
    const lateMs = clock() - due;
    const target = this.#targets[this.#turn++ % this.#targets.length];
    const { bytes, timeoutMs } = this.#options;
    if (target !== undefined && (await request(target, bytes, this.#agent, timeoutMs))) {
      return { latencyMs: clock() - due, lateMs };
    }
    this.#failed += 1;
    return { lateMs };
  }
}
