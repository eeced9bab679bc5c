import { createHash } from 'node:crypto';
import type { V1TokenReviewStatus } from '@kubernetes/client-node';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { identityOf, type Identity } from './token.ts';
import { ReviewQueue, type Claimant } from './reviewQueue.ts';

/** A verified token, or why there is none. `unavailable`: no answer of the API server. `busy`: too many reviews wait. */
export type ReviewResult = { readonly identity: Identity } | 'invalid' | 'unavailable' | 'busy';

/** Asks the API server; rejects if it does not answer. */
export type AskReview = (token: string, audience: string) => Promise<V1TokenReviewStatus | undefined>;

/** The claims of a token, and the source that sent it. */
export interface TokenClaim extends Claimant {
  /** The end of the token as it claims, seconds since 1970. A verified token is not used for longer. */
  readonly expiresAt: number | undefined;
}

/** How long answers are used, ms. A token never longer than until its end. */
const VALID_MS = 5 * 60_000;
const INVALID_MS = 10_000;
/** How long a verified token is used while the API server does not answer, ms. */
const AWAY_MS = 60 * 60_000;
/** How long a report with a token that was verified earlier waits for its review. An agent waits for half its interval, ms. */
const PATIENCE_MS = 500;
/** After a failed review none is tried for this time, then one: agents shall not wait for each deadline, ms. */
const PAUSE_MS = 2_000;
/** Agents of 10,000 nodes on two planes, and some more. The oldest answers are dropped. */
const MOST_VALID = 25_000;
/** Apart from the others: tokens that are made up shall not drop verified ones. */
const MOST_INVALID = 1_000;

interface Verified {
  readonly identity: Identity;
}

interface Answer {
  readonly result: Verified | 'invalid';
  /** Monotonic times, ms. */
  readonly freshUntil: number;
  readonly usableUntil: number;
}

interface ReviewOptions {
  readonly audience: string;
  readonly ask: AskReview;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Verifies tokens by TokenReviews. Keeps answers by a hash of the token, for a bounded time and number; concurrent
 * requests with one token share a review.
 */
export class TokenReviews {
  readonly #o: ReviewOptions;
  readonly #valid = new Map<string, Answer>();
  readonly #invalid = new Map<string, Answer>();
  readonly #underWay = new Map<string, Promise<ReviewResult>>();
  readonly #queue = new ReviewQueue();
  #pausedUntil = -Infinity;
  /** The API server did not answer the last review, and `trying`: a review finds out whether it does now. */
  #away: 'no' | 'yes' | 'trying' = 'no';
  /** Error of the last review; undefined after a successful one. */
  #failure: string | undefined;

  constructor(options: ReviewOptions) {
    this.#o = options;
  }

  /** Number of cached answers. */
  get size(): number {
    return this.#valid.size + this.#invalid.size;
  }

  /** Verifies a token. Never rejects. `ReviewQueue` decides whose review is next, and which token is refused as `busy`. */
  async verify(token: string, claim: TokenClaim): Promise<ReviewResult> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#valid.get(key) ?? this.#invalid.get(key);
    if (known !== undefined && known.freshUntil > this.#o.clock.monotonic()) return known.result;
    const review = this.#underWay.get(key) ?? this.#start(key, token, claim);
    const result = await this.#inTime(review, this.#lastKnown(key, 'unavailable'));
    return result === 'unavailable' || result === 'busy' ? this.#lastKnown(key, result) : result;
  }

  /** Returns the result of a review; `lastKnown` if there is one and the API server is slow. The review continues. */
  async #inTime(review: Promise<ReviewResult>, lastKnown: ReviewResult): Promise<ReviewResult> {
    if (lastKnown === 'unavailable') return review;
    const reviewed = new AbortController();
    const late = this.#o.clock.sleep(PATIENCE_MS, reviewed.signal).then(() => lastKnown);
    return Promise.race([review, late]).finally(() => reviewed.abort());
  }

  /** Returns the earlier result of a token that cannot be verified now; without one, the problem. */
  #lastKnown(key: string, problem: 'unavailable' | 'busy'): ReviewResult {
    const known = this.#valid.get(key);
    return known !== undefined && known.usableUntil > this.#o.clock.monotonic() ? known.result : problem;
  }

  #start(key: string, token: string, claim: TokenClaim): Promise<ReviewResult> {
    const review = this.#review(key, token, claim).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, review);
    return review;
  }

  async #review(key: string, token: string, claim: TokenClaim): Promise<ReviewResult> {
    if (this.#isAway()) return 'unavailable';
    const leave = await this.#queue.enter(claim);
    if (leave === undefined) return 'busy';
    try {
      // A review may have failed while this one waited in the queue.
      if (this.#isAway()) return 'unavailable';
      if (this.#away === 'yes') this.#away = 'trying';
      const { ask, audience } = this.#o;
      const identity = identityOf(await ask(token, audience), audience);
      this.#failure = undefined;
      this.#away = 'no';
      return this.#remember(key, identity === undefined ? 'invalid' : { identity }, claim.expiresAt);
    } catch (error) {
      this.#failed(error);
      return 'unavailable';
    } finally {
      leave();
    }
  }

  #isAway(): boolean {
    return this.#away === 'trying' || this.#pausedUntil > this.#o.clock.monotonic();
  }

  /** Logs an error once until it changes. */
  #failed(error: unknown): void {
    const isAway = !(error instanceof ApiError) || error.status >= 500;
    if (isAway) this.#pausedUntil = this.#o.clock.monotonic() + PAUSE_MS;
    this.#away = isAway ? 'yes' : 'no';
    const failure = error instanceof Error ? error.message : String(error);
    if (failure !== this.#failure) this.#o.logger.error({ err: error }, 'cannot have tokens of agents verified');
    this.#failure = failure;
  }

  #remember(key: string, result: Answer['result'], expiresAt: number | undefined): Answer['result'] {
    const { clock } = this.#o;
    const now = clock.monotonic();
    const leftMs = Math.max(0, (expiresAt ?? 0) * 1_000 - clock.now());
    const isValid = result !== 'invalid';
    const freshUntil = now + (isValid ? Math.min(leftMs, VALID_MS) : INVALID_MS);
    this.#valid.delete(key);
    this.#invalid.delete(key);
    const [answers, most] = isValid ? [this.#valid, MOST_VALID] : [this.#invalid, MOST_INVALID];
    answers.set(key, { result, freshUntil, usableUntil: isValid ? now + Math.min(leftMs, AWAY_MS) : freshUntil });
    const [oldest] = answers.keys();
    if (oldest !== undefined && answers.size > most) answers.delete(oldest);
    return result;
  }
}
