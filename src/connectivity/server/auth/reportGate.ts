import type { Report } from '../../../api/agent/report.ts';
import { TokenBuckets, type Allowance } from '../../../runtime/async/limit.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { HttpAnswer, HttpRequest } from '../../../runtime/server/httpServer.ts';
import type { AgentState } from '../reports/reports.ts';
import {
  decideReporter,
  refuseClaims,
  refuseNamesakes,
  refuseNode,
  type PodLookup,
  type Refusal,
  type Reporter,
  type Rules,
} from './decide.ts';
import type { ReviewResult, TokenClaim } from './reviews.ts';
import { bearerToken, claimsOf } from './token.ts';

/** The settings and functions that decide who may report. */
export interface ReportGateOptions {
  /** Accept reports without a token, such as original agents send. */
  readonly allowAnonymous: boolean;
  readonly audience: string;
  readonly rules: Rules;
  readonly verify: (token: string, claim: TokenClaim) => Promise<ReviewResult>;
  readonly podOf: (namespace: string, name: string) => PodLookup;
  /** The namespaces with a pod of an agent that has the name. */
  readonly namespacesOf: (name: string) => readonly string[];
  readonly rate: Pick<RateLimit, 'allows'>;
  /** The last report of a pod, if it is current. */
  readonly current: (pod: string) => AgentState | undefined;
}

/** Who reports: a verified pod, or anyone. */
export type Sender = { readonly reporter: Reporter } | 'anonymous';

const RETRY_SECONDS = '5';
const RATE_LIMITED: HttpAnswer = {
  status: 429,
  text: 'too many reports: at most one per second and agent\n',
  headers: { 'retry-after': '1' },
};
const UNAVAILABLE: Refusal = {
  status: 503,
  text: 'the token cannot be verified now: the API server does not answer, or refuses the TokenReview\n',
};
const BUSY: Refusal = {
  status: 503,
  text: 'the token cannot be verified now: too many tokens wait, or another token of this pod from this address\n',
};

/**
 * Decides who may report, before the body of a report is read:
 *
 * | header `authorization` | result |
 * |---|---|
 * | absent | 401, or anonymous where allowed |
 * | no bearer token, or the token is not valid for the audience | 401 |
 * | names no pod of an agent, without being verified | 403, `refuseClaims` |
 * | the API server does not answer, or `ReviewQueue` refuses the review, and the token was not verified earlier | 503 |
 * | a valid token | `decideReporter` |
 * | as before, and agents of several namespaces have the name | 403, `refuseNamesakes` |
 * | more than a report per second | 429 |
 *
 * A report without a token does not replace a current report that had one: 401.
 */
export class ReportGate {
  readonly #o: ReportGateOptions;

  constructor(options: ReportGateOptions) {
    this.#o = options;
  }

  /** @param name the pod in the URL, a valid name */
  async admit(
    { authorization, source }: Pick<HttpRequest, 'authorization' | 'source'>,
    name: string,
  ): Promise<{ sender: Sender } | { refused: HttpAnswer }> {
    const token = bearerToken(authorization);
    const found = token === undefined ? this.#anonymous(name) : await this.#authenticated(token, name, source);
    if ('refusal' in found) return { refused: answerOf(found.refusal) };
    const ambiguous = refuseNamesakes(name, this.#o.namespacesOf(name));
    if (ambiguous !== undefined) return { refused: answerOf(ambiguous) };
    const { sender } = found;
    const key = sender === 'anonymous' ? `${source} ${name}` : `${sender.reporter.namespace}/${name}`;
    return this.#o.rate.allows(key) ? found : { refused: RATE_LIMITED };
  }

  /**
   * Checks a report once its body is read: the body of an anonymous report may have taken long, and a reporter may only
   * report of its own node.
   */
  refuses({ podname, nodename }: Pick<Report, 'podname' | 'nodename'>, sender: Sender): HttpAnswer | undefined {
    const refusal = sender === 'anonymous' ? this.#refuseAnonymous(podname) : refuseNode(nodename, sender.reporter);
    return refusal && answerOf(refusal);
  }

  #anonymous(name: string): { sender: Sender } | { refusal: Refusal } {
    const refusal = this.#refuseAnonymous(name);
    return refusal === undefined ? { sender: 'anonymous' } : { refusal };
  }

  #refuseAnonymous(name: string): Refusal | undefined {
    if (!this.#o.allowAnonymous) return this.#unauthenticated('no bearer token');
    const current = this.#o.current(name);
    if (current === undefined || current.anonymous === true) return undefined;
    return this.#unauthenticated(`no bearer token, but the current report of ${name} came with one`);
  }

  async #authenticated(
    token: string,
    name: string,
    source: string,
  ): Promise<{ sender: Sender } | { refusal: Refusal }> {
    const claims = claimsOf(token);
    if (claims?.audiences.includes(this.#o.audience) !== true) return this.#invalid();
    const { pod } = claims;
    const refusal = refuseClaims(pod, name, pod && this.#o.podOf(pod.namespace, pod.name));
    if (refusal !== undefined) return { refusal };
    const { expiresAt } = claims;
    const result = await this.#o.verify(token, { expiresAt, source, pod: `${pod?.namespace}/${pod?.name}` });
    if (result === 'invalid') return this.#invalid();
    if (result === 'unavailable') return { refusal: UNAVAILABLE };
    if (result === 'busy') return { refusal: BUSY };
    const { identity } = result;
    const known = 'unbound' in identity ? undefined : this.#o.podOf(identity.namespace, identity.pod);
    const decided = decideReporter(identity, name, known, this.#o.rules);
    return 'refusal' in decided ? decided : { sender: decided };
  }

  #invalid(): { refusal: Refusal } {
    return { refusal: this.#unauthenticated('the bearer token is not valid') };
  }

  #unauthenticated(why: string): Refusal {
    const allowed = `must be "Bearer" and a token of the agent's ServiceAccount for the audience ${this.#o.audience}`;
    return { status: 401, text: `authorization: ${why}: ${allowed}\n` };
  }
}

function answerOf({ status, text }: Refusal): HttpAnswer {
  if (status === 401) return { status, text, headers: { 'www-authenticate': 'Bearer' } };
  if (status === 503) return { status, text, headers: { 'retry-after': RETRY_SECONDS } };
  return { status, text };
}

/** One report a second on average. It may come 0.2 s early: the network delays one more than the next. */
const REPORTS: Allowance = { burst: 1.2, perSecond: 1 };
/** Agents of 10,000 nodes on two planes, and as many unknown ones. */
const MOST_KEYS = 50_000;

/** At most one report per second and agent on average. Memory is bounded; agents that have not reported for a second take none. */
export class RateLimit {
  readonly #buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.#buckets = new TokenBuckets(clock, { mostKeys: MOST_KEYS });
  }

  /** Number of keys in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Whether a report may come now; if so, counts it. */
  allows(key: string): boolean {
    return this.#buckets.take(key, REPORTS);
  }
}
