import { createHash } from 'node:crypto';
import type { V1SubjectAccessReview, V1TokenReview } from '@kubernetes/client-node';
import type { Client } from '../../client/client.ts';
import { systemClock, type Clock } from '../../process/clock.ts';
import type { Logger } from '../../process/logger.ts';
import type { Resource } from '../../client/resource.ts';

const TOKEN_REVIEWS: Resource<V1TokenReview> = {
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

/** Whether a request may read the metrics. `busy`: too many are being asked about, or the API server gave no answer. */
export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'busy';

/** A scraper comes every 15 to 60 s; access that is taken away ends within a minute. */
const ALLOWED_MS = 60_000;
const REFUSED_MS = 10_000;

/** Answers that are remembered; the oldest are forgotten. */
const MOST_REMEMBERED = 1_000;

/** Reviews at once: whoever sends made-up tokens must not use up the operator's own calls. */
const MOST_REVIEWS = 4;

/**
 * Who may read the metrics, as the API server sees it: the bearer of a token (TokenReview) that may `get` the
 * non-resource URL /metrics (SubjectAccessReview), as controller-runtime's WithAuthenticationAndAuthorization has it.
 */
export class MetricsAccess {
  readonly #client: Client;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #known = new Map<string, { verdict: Verdict; until: number }>();
  #reviews = 0;
  /** What the last review failed by; undefined after one that was answered. */
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

  /** Once as long as it stays the same: anybody can make this happen, and a scraper comes again and again. */
  #tellOf(error: unknown): void {
    const failure = error instanceof Error ? error.message : String(error);
    if (failure !== this.#failure) {
      this.#failure = failure;
      this.#logger.error({ err: error }, 'whether somebody may read the metrics cannot be asked');
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
