import { ApiError, isForbidden, isGone, isNotFound, TransportError } from '../client/errors.ts';
import { Backoff } from './reflector/backoff.ts';
import { Round, type ListKind, type ReflectorOptions, type WatchEnd } from './reflector/round.ts';
import { BadLineError } from './reflector/watchEvents.ts';
import { resourceName, type KubeObject } from '../client/resource.ts';

export type { ListKind, ReflectorOptions, ReflectorTarget, WatchEnd, WatchMetrics } from './reflector/round.ts';

/** Minimum time between the starts of two watches. */
const PACE_MS = 1_000;
/** A watch that was open this long was healthy: the next failure counts as the first. */
const HEALTHY_MS = 60_000;
/** After this many failures to resume from a version, list again: the version may be the cause. */
const MAX_RESUMES = 3;
/**
 * A restarted server returns 503, 429 or 410, any number of times, until it has started completely. Caches must be
 * current within 5 s after that, so pauses do not grow for this long after an outage.
 */
const STARTING_MS = 30_000;
const LONGEST_WHILE_STARTING_MS = 2_000;
/** A compaction ends all watches at once: their lists start at random times within this period. */
const RELIST_SPREAD_MS = 1_000;
const FIRST_RECONNECT_MS = 500;
const LONGEST_RECONNECT_MS = 4_000;
/** Error responses that do not concern the version: wrong credentials, missing rights, too busy. */
const NOT_ABOUT_THE_VERSION = new Set([401, 403, 408, 429]);

/**
 * Keeps a target equal to the state of the API server, with the semantics of client-go's Reflector.
 *
 * | a list or watch ended with          | then                                                        |
 * |-------------------------------------|-------------------------------------------------------------|
 * | a close by the server               | watch from the last version                                 |
 * | 410, as status or as ERROR event    | one new list, at a random time within the next second; from |
 * |                                     | the second time in a row after an exponential pause         |
 * | 400 or 422 to a watch-list          | list in pages, now and later                                |
 * | a watch-list without an end         | list in pages, this time                                    |
 * | any other error response, bad line  | watch from the last version, after an exponential pause     |
 * | ... for the third time in a row     | one new list                                                |
 * | no connection                       | wait for the shared probe, then watch from the last version |
 *
 * Exponential pauses are at most 2 s in the first 30 s after an outage of this watch.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #name: string;
  readonly #backoff = new Backoff();
  /** A separate backoff: a list follows a 410 at once, whatever failed before. */
  readonly #relistBackoff = new Backoff();
  /** End of the last outage, monotonic milliseconds. */
  #backSince = -Infinity;
  #version: string | undefined;
  /** The way of listing, and the way of the next list. */
  #listKind: ListKind = 'watch-list';
  #nextListKind: ListKind = 'watch-list';
  /** Consecutive failures to resume from a version, and to keep a connection. */
  #resumes = 0;
  #reconnects = 0;
  /** The message of the last failure, if it was a refusal (403, 404). */
  #refusal: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#name = resourceName(options.selection.resource);
  }

  /** Lists and watches until `signal` is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const begun = clock.monotonic();
      const end = await this.#round(signal);
      // A rejected watch-list started no watch, and that happens only once.
      if (end !== 'refused') await clock.sleep(begun + PACE_MS - clock.monotonic(), signal);
    }
  }

  async #round(signal: AbortSignal): Promise<WatchEnd | undefined> {
    const round = new Round(this.#options, this.#nextListKind, this.#version);
    let failure: unknown;
    try {
      await round.run(signal);
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return undefined;
    this.#learn(round);
    const end = this.#endOf(failure, round);
    await this.#recover(end, failure, signal);
    return end;
  }

  #learn(round: Round<T>): void {
    this.#version = round.version;
    this.#nextListKind = round.isEndless ? 'pages' : this.#listKind;
    if (round.events > 0) this.#resumes = 0;
    if (round.openFor < HEALTHY_MS) return;
    this.#forgetFailures();
  }

  #forgetFailures(): void {
    this.#backoff.reset();
    this.#relistBackoff.reset();
    this.#resumes = 0;
    this.#reconnects = 0;
  }

  #endOf(failure: unknown, round: Round<T>): WatchEnd {
    if (failure === undefined) return 'closed';
    if (failure instanceof BadLineError) return 'badLine';
    if (failure instanceof TransportError) return failure.failure === 'garbage' ? 'answered' : 'unreachable';
    if (!(failure instanceof ApiError)) return 'failed';
    if (isRefusal(failure)) this.#options.target.refused?.(failure);
    if (isGone(failure)) return 'gone';
    const watchList = this.#version === undefined && round.events === 0 && this.#listKind === 'watch-list';
    return watchList && (failure.status === 400 || failure.status === 422) ? 'refused' : 'answered';
  }

  async #recover(end: WatchEnd, failure: unknown, signal: AbortSignal): Promise<void> {
    const { metrics, logger } = this.#options;
    metrics?.watchEnded(this.#name, end);
    const fields = { resource: this.#name, end, err: failure, version: this.#version };
    // A right or a CRD may be missing for days: its refusal is logged once.
    const refusal = isRefusal(failure) ? failure.message : undefined;
    const isRepeated = refusal !== undefined && refusal === this.#refusal;
    this.#refusal = refusal;
    if (end === 'closed' || isRepeated) logger.debug(fields, 'watch ended');
    else logger.warn(fields, 'watch ended');
    switch (end) {
      case 'closed':
        return;
      case 'refused':
        this.#listKind = this.#nextListKind = 'pages';
        return;
      case 'gone':
        return this.#listAgain(signal);
      case 'unreachable':
        return this.#reconnect(signal);
      default:
        return this.#resume(end, failure, signal);
    }
  }

  /** The first list starts within a second. If the server rejects every version as too old, lists back off. */
  async #listAgain(signal: AbortSignal): Promise<void> {
    this.#version = undefined;
    const isFirst = this.#relistBackoff.isFresh;
    const pause = this.#relistBackoff.next({ longestMs: this.#longestPause() });
    await this.#options.clock.sleep(isFirst ? RELIST_SPREAD_MS * Math.random() : pause, signal);
  }

  async #resume(end: WatchEnd, failure: unknown, signal: AbortSignal): Promise<void> {
    if (end === 'badLine') this.#options.metrics?.badLine(this.#name);
    this.#resumes += 1;
    if (this.#resumes >= MAX_RESUMES || isAboutTheVersion(failure)) {
      this.#version = undefined;
      this.#resumes = 0;
    }
    const pause = this.#backoff.next({ atLeastMs: askedPause(failure), longestMs: this.#longestPause() });
    await this.#options.clock.sleep(pause, signal);
  }

  #longestPause(): number | undefined {
    const isStarting = this.#options.clock.monotonic() - this.#backSince < STARTING_MS;
    return isStarting ? LONGEST_WHILE_STARTING_MS : undefined;
  }

  async #reconnect(signal: AbortSignal): Promise<void> {
    const { clock, transport } = this.#options;
    // Without an outage the server responds, and only the watch broke.
    if (await transport.whenReachable(signal)) {
      // Another or a restarted server: previous failures are irrelevant.
      this.#forgetFailures();
      this.#backSince = clock.monotonic();
      return;
    }
    const nominal = Math.min(FIRST_RECONNECT_MS * 2 ** this.#reconnects, LONGEST_RECONNECT_MS);
    this.#reconnects += 1;
    await clock.sleep(nominal * (0.5 + Math.random() / 2), signal);
  }
}

/**
 * Returns the Retry-After of a busy server (429). Ignores the Retry-After of a 503: while kube-apiserver starts, it returns 503
 * for some paths, always with 5 s (notfoundhandler of k8s.io/apiserver), which is later than the watch could be live
 * again.
 */
function askedPause(failure: unknown): number | undefined {
  return failure instanceof ApiError && failure.status === 429 ? failure.retryAfterMs : undefined;
}

/** The right to list or watch is missing, or the CRD. */
function isRefusal(failure: unknown): failure is ApiError {
  return isForbidden(failure) || isNotFound(failure);
}

function isAboutTheVersion(failure: unknown): boolean {
  if (!(failure instanceof ApiError)) return false;
  return failure.status >= 400 && failure.status < 500 && !NOT_ABOUT_THE_VERSION.has(failure.status);
}
