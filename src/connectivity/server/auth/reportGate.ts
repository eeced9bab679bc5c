import type { Report } from '../../../api/agent/report.ts';
import type { HttpAnswer, HttpRequest } from '../../../runtime/server/httpServer.ts';
import type { AgentState } from '../reports/reports.ts';
import { decideReporter, refuseNode, type PodLookup, type Refusal, type Reporter, type Rules } from './decide.ts';
import type { RateLimit } from './rateLimit.ts';
import type { Identity } from './identity.ts';
import type { ReviewResult } from './reviews.ts';
import { bearerToken, claimsOf } from './token.ts';

/** What decides who may report. */
export interface ReportGateOptions {
  /** Accept reports without a token: of the original agents. */
  readonly allowAnonymous: boolean;
  readonly audience: string;
  readonly rules: Rules;
  readonly verify: (token: string) => Promise<ReviewResult>;
  readonly podOf: (namespace: string, name: string) => PodLookup;
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
  text: 'the token cannot be verified now: the API server does not answer or refuses the TokenReview, or too many wait\n',
};

/**
 * Decides who may report, before the body of a report is read:
 *
 * | header `authorization` | result |
 * |---|---|
 * | absent | 401, or anonymous where allowed |
 * | no bearer token, or one that claims to be no token of a ServiceAccount | 401 |
 * | a token whose claims `decideReporter` refuses | 403 or 503, without a review: a false token costs the API server nothing |
 * | the token is not valid for the audience | 401 |
 * | the API server does not answer, and the token was not verified earlier | 503 |
 * | a valid token | `decideReporter` |
 * | more than a report per second | 429 |
 *
 * Without a token nobody takes the place of an agent whose last authenticated report is current: 401.
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
    const found = token === undefined ? this.#anonymous(name) : await this.#authenticated(token, name);
    if ('refusal' in found) return { refused: answerOf(found.refusal) };
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

  async #authenticated(token: string, name: string): Promise<{ sender: Sender } | { refusal: Refusal }> {
    const claimed = claimsOf(token)?.identity;
    if (claimed === undefined) return { refusal: this.#unauthenticated('the bearer token is not valid') };
    const early = this.#decide(claimed, name);
    if ('refusal' in early) return early;
    const result = await this.#o.verify(token);
    if (result === 'invalid') return { refusal: this.#unauthenticated('the bearer token is not valid') };
    if (result === 'unavailable') return { refusal: UNAVAILABLE };
    const decided = this.#decide(result.identity, name);
    return 'refusal' in decided ? decided : { sender: decided };
  }

  #decide(identity: Identity, name: string): ReturnType<typeof decideReporter> {
    const known = 'unbound' in identity ? undefined : this.#o.podOf(identity.namespace, identity.pod);
    return decideReporter(identity, name, known, this.#o.rules);
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
