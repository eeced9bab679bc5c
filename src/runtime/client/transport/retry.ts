import { ApiError, TransportError } from '../errors.ts';
import type { TransportRequest } from './types.ts';
import type { Clock } from '../../process/clock.ts';

/** First pause between two attempts of a call, milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 250;
/** Longest pause: about the time until a recovered server is noticed. */
const LONGEST_PAUSE_MS = 4_000;

/** Status codes that may change with another attempt. */
const TRANSIENT_STATUS = new Set([429, 500, 502, 503, 504]);

/**
 * How long to wait before the next attempt, or undefined when the error is final.
 *
 * | result of the attempt                 | idempotent request | other (POST, JSON patch)      |
 * |---------------------------------------|--------------------|-------------------------------|
 * | never sent                            | retry              | retry                         |
 * | sent, no response (lost, deadline)    | retry              | no: it may have been executed |
 * | 429                                   | retry              | retry: it was not executed    |
 * | 503 with Retry-After                  | retry              | retry: it was not executed    |
 * | 500, 502, 503, 504                    | retry              | no                            |
 * | any other response, cancelled         | no                 | no                            |
 *
 * @param attempt number of attempts so far, from 1
 * @param random 0 to 1: the pause is between half and all of its nominal length, so that callers that failed together
 *   do not retry together. A Retry-After is a lower bound instead.
 */
export function retryPause(
  error: unknown,
  request: TransportRequest,
  attempt: number,
  random: number,
): number | undefined {
  if (!mayRepeat(error, request)) return undefined;
  const nominal = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  return asked === undefined ? nominal * (0.5 + random / 2) : asked + FIRST_PAUSE_MS * random;
}

function mayRepeat(error: unknown, request: TransportRequest): boolean {
  if (error instanceof ApiError) {
    if (!TRANSIENT_STATUS.has(error.status)) return false;
    const turnedAway = error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);
    return turnedAway || isRepeatable(request);
  }
  if (error instanceof TransportError) {
    return error.failure !== 'aborted' && (error.unsent || isRepeatable(request));
  }
  return false;
}

/**
 * True if sending the request twice has the same effect as once. Apply and merge patches describe the desired state. A
 * PUT contains the resource version that it replaces, so a second PUT gets 409. A second DELETE gets 404.
 */
function isRepeatable({ method, contentType }: TransportRequest): boolean {
  return method === 'PATCH' ? contentType !== 'application/json-patch+json' : method !== 'POST';
}

interface ReachabilityOptions {
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
