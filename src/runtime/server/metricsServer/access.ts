import { createHash } from 'node:crypto';
import type { V1SubjectAccessReview, V1TokenReview } from '@kubernetes/client-node';
import type { Client } from '../../client/client.ts';
import { systemClock, type Clock } from '../../process/clock.ts';
import type { Logger } from '../../process/logger.ts';
import type { Resource } from '../../client/resource.ts';

/** Asks whether a token is valid, and whose. */
export const TOKEN_REVIEWS: Resource<V1TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
};
const SUBJECT_ACCESS_REVIEWS: Resource<V1SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/** Whether a request may read the metrics. `busy`: too many reviews, or no response of the API server. */
export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'busy';

/** How long a positive result is cached. Scrapers come every 15 to 60 s; revoked access ends within a minute. */
const ALLOWED_MS = 60_000;
const REFUSED_MS = 10_000;

/** Maximum of cached results; the oldest are dropped. */
const MOST_REMEMBERED = 1_000;

/** Maximum of concurrent reviews, so that invalid tokens cannot use up the operator's own calls. */
const MOST_REVIEWS = 4;

/**
 * Asks the API server whether a client may read the metrics. The client needs a valid bearer token (TokenReview) and
 * the right to `get` the non-resource URL /metrics (SubjectAccessReview), as in controller-runtime's
 * WithAuthenticationAndAuthorization.
 */
export class MetricsAccess {
  readonly #client: Client;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #known = new Map<string, { verdict: Verdict; until: number }>();
  #reviews = 0;
  /** Error of the last review; undefined after a successful review. */
  #failure: string | undefined;

  constructor(client: Client, logger: Logger, clock: Clock = systemClock) {
    this.#client = client;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** @param authorization the request's header; never rejects */
  async verdictOn(authorization: string | undefined): Promise<Verdict> {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      return 'unauthenticated';
    }
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined && known.until > this.#clock.monotonic()) {
      return known.verdict;
    }
    if (this.#reviews >= MOST_REVIEWS) {
      return 'busy';
    }
    const verdict = await this.#ask(token);
    this.#remember(key, verdict);
    return verdict;
  }

  async #ask(token: string): Promise<Verdict> {
    this.#reviews++;
    try {
      const verdict = await this.#review(token);
      this.#failure = undefined;
      return verdict;
    } catch (error) {
      this.#tellOf(error);
      return 'busy';
    } finally {
      this.#reviews--;
    }
  }

  /** Logs an error once until it changes: any client can cause it, and scrapers repeat their requests. */
  #tellOf(error: unknown): void {
    const failure = error instanceof Error ? error.message : String(error);
    if (failure !== this.#failure) {
      this.#failure = failure;
      this.#logger.error({ err: error }, 'cannot ask the API server whether a client may read the metrics');
    }
  }

  async #review(token: string): Promise<Verdict> {
    const { status } = await this.#client.create(TOKEN_REVIEWS, { spec: { token } });
    if (status?.authenticated !== true || status.user?.username === undefined) {
      return 'unauthenticated';
    }
    const { username: user, groups, uid, extra } = status.user;
    const nonResourceAttributes = { path: '/metrics', verb: 'get' };
    const review = await this.#client.create(SUBJECT_ACCESS_REVIEWS, {
      spec: { user, groups, uid, extra, nonResourceAttributes },
    });
    return review.status?.allowed === true ? 'allowed' : 'forbidden';
  }

  #remember(key: string, verdict: Verdict): void {
    if (verdict === 'busy') {
      return;
    }
    const until = this.#clock.monotonic() + (verdict === 'allowed' ? ALLOWED_MS : REFUSED_MS);
    this.#known.delete(key);
    this.#known.set(key, { verdict, until });
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MOST_REMEMBERED) {
      this.#known.delete(oldest);
    }
  }
}
