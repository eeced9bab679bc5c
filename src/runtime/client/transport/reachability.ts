import type { Clock } from '../../process/clock.ts';
import { ApiError } from '../errors.ts';

export interface ReachabilityOptions {
  clock: Clock;
  /** Sends a cheap request. Rejects if there is no response in time. */
  probe: () => Promise<unknown>;
  /** Called when a probe got a response. */
  onAnswer: () => void;
}

/** Interval of probes. A recovered server is noticed after at most 3 s, which leaves 2 s to catch up. */
const PROBE_INTERVAL_MS = 3_000;

/** Detects when the API server responds again. All callers share one probe at a time. */
export class Reachability {
  readonly #options: ReachabilityOptions;
  #waiting = new Set<() => void>();
  #probing = false;
  #lastProbe = -Infinity;
  /** Whether the last probe got no response, and the number of such probes so far. */
  #isDown = false;
  #failures = 0;
  readonly #end = new AbortController();

  constructor(options: ReachabilityOptions) {
    this.#options = options;
  }

  /**
   * Resolves once a probe that started after this call got a response, or `signal` is aborted.
   *
   * @returns whether there was an outage: a probe since this call, or the last one before it, got no response
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

  /** Resolves all waiting callers and stops probing. */
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

/** An error status is a response too, unless it means that the server, or a proxy in front of it, is not up yet. */
async function answers(probe: () => Promise<unknown>): Promise<boolean> {
  try {
    await probe();
    return true;
  } catch (error) {
    return error instanceof ApiError && error.status < 500;
  }
}
