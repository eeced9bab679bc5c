import type { Clock } from '../../process/clock.ts';
import { ApiError } from '../errors.ts';

export interface ReachabilityOptions {
  clock: Clock;
  /** Asks the server something that costs nothing. Rejects when it does not answer in time. */
  probe: () => Promise<unknown>;
  /** Called when a probe was answered. */
  onAnswer: () => void;
}

/** From one probe to the next. A server that is back is found after 3 s at most, which leaves 2 s to catch up. */
const PROBE_INTERVAL_MS = 3_000;

/** Says when the API server answers again: one probe at a time, however many ask. */
export class Reachability {
  readonly #options: ReachabilityOptions;
  #waiting = new Set<() => void>();
  #probing = false;
  #lastProbe = -Infinity;
  /** Whether the last probe had no answer, and how many had none so far. */
  #isDown = false;
  #failures = 0;
  readonly #end = new AbortController();

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /**
   * Resolves once a probe that began after this call was answered, or `signal` is aborted.
   *
   * @returns whether there was an outage: some probe since this call had no answer, or the last one before it had none
   */
  whenReachable(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    const [wasDown, failures] = [this.#isDown, this.#failures];
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve(wasDown || this.#failures > failures);
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
      void this.#run();
    });
  }

  /** Lets everybody go on, whether or not the server answers, and asks no more. */
  close(): void {
    this.#end.abort();
    for (const done of [...this.#waiting]) done();
  }

  async #run(): Promise<void> {
    if (this.#probing) return;
    this.#probing = true;
    while (this.#waiting.size > 0) await this.#once();
    this.#probing = false;
  }

  async #once(): Promise<void> {
    const { clock, probe, onAnswer } = this.#options;
    await clock.sleep(this.#lastProbe + PROBE_INTERVAL_MS - clock.monotonic(), this.#end.signal);
    this.#lastProbe = clock.monotonic();
    const asked = [...this.#waiting];
    if (asked.length === 0) return;
    if (!(await answers(probe))) {
      this.#isDown = true;
      this.#failures += 1;
      return;
    }
    this.#isDown = false;
    onAnswer();
    for (const done of asked) done();
  }
}

/** A refusal is an answer too, unless it says that the server, or a proxy before it, is not up yet. */
async function answers(probe: () => Promise<unknown>): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch (error) {
    return error instanceof ApiError && error.status < 500;
  }
}
