import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { HttpAnswer, HttpHandler, HttpRequest } from '../../runtime/server/httpServer.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../runtime/server/httpServer/limits.ts';
import type { PreparedPlacement } from '../podTerms.ts';
import { WEBHOOK_PATH } from './configuration.ts';
import type { RequestResult, WebhookMetrics } from './metrics.ts';
import { answerReview } from './review.ts';

/** The API server accepts requests of up to 3 MiB, and adds about 1 KB to the pod. */
const BODY_LIMIT_BYTES = 3.5 * 1024 * 1024;
/** Memory for bodies that have not arrived completely. A complete body is answered at once. */
const MOST_BYTES = 64 * 1024 * 1024;
/** One address has a quarter of it: 600 bodies of an API server, the most by default, may be half-read with 27 kB each. */
const MOST_OF_SOURCE_BYTES = MOST_BYTES / 4;
/** The memory of a chunk besides its bytes: a client may send a byte in each. */
const CHUNK_BYTES = 200;
/** For a body. The API server sends it at once, and creates the pod without an answer after 2 s. */
const BODY_MS = 1_000;

/**
 * The limits that differ from HTTP_LIMITS. The API server sends a body at once, and uses a connection for each
 * request that is under way, since it speaks HTTP/1.1 with webhooks; it closes idle connections after 90 s.
 * It reads an answer at once; the longest have about 12 MB, since a pod has 3 MiB and its terms may come three times, as base64.
 */
export const WEBHOOK_LIMITS: HttpLimits = {
  ...HTTP_LIMITS,
  headersMs: 3_000,
  requestMs: 4_000,
  stalledMs: 5_000,
  keepAliveMs: 120_000,
  connections: 2_000,
  longAnswers: 16,
  longAnswerMs: 3_000,
};

const NOT_FOUND: HttpAnswer = { status: 404, text: 'not found\n' };
const NOT_ALLOWED: HttpAnswer = { status: 405, text: 'only POST\n', headers: { allow: 'POST' } };
/** Without retry-after: the API server would ask again while the pod waits. */
const BUSY: HttpAnswer = { status: 503, text: 'too many requests\n' };

interface HandlerOptions {
  /** The PodPlacement of a namespace; undefined if it has none. */
  readonly placementOf: (namespace: string) => PreparedPlacement | undefined;
  readonly metrics: Pick<WebhookMetrics, 'answered'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Logger;
}

/** Answers AdmissionReviews. */
export function webhookHandler({ placementOf, metrics, clock, logger }: HandlerOptions): HttpHandler {
  const bodies = new Bodies();
  const answer = async (request: HttpRequest): Promise<{ answer: HttpAnswer; result: RequestResult }> => {
    const body = await bodies.read(request);
    if (body === undefined) return { answer: BUSY, result: 'overloaded' };
    const { status, text, problem, result } = answerReview(body, placementOf);
    if (problem !== undefined) logger.debug({ problem }, 'a pod gets no terms');
    return { answer: { status, text, ...(status === 200 && JSON_TYPE) }, result };
  };
  return async (request) => {
    if (request.path !== WEBHOOK_PATH) return NOT_FOUND;
    if (request.method !== 'POST') return NOT_ALLOWED;
    const began = clock.monotonic();
    const answered = await answer(request);
    metrics.answered(answered.result, (clock.monotonic() - began) / 1_000);
    return answered.answer;
  };
}

const JSON_TYPE = { headers: { 'content-type': 'application/json' } };

class NoRoom extends Error {}

/** Reads bodies side by side, so that none waits for a slow client. Bounds the memory of those that are not complete. */
class Bodies {
  /** By address of the client. An address without a body that is being read has no entry. */
  readonly #bytes = new Map<string, number>();
  #total = 0;

  /** Returns undefined without room, or after BODY_MS. @throws as `body` of a request */
  async read({ source, body }: Pick<HttpRequest, 'source' | 'body'>): Promise<string | undefined> {
    let held = 0;
    let isOver = false;
    const take = (chunk: number): void => {
      const bytes = chunk + CHUNK_BYTES;
      if (isOver || !this.#hasRoom(source, bytes)) throw new NoRoom();
      held += bytes;
      this.#count(source, bytes);
    };
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), BODY_MS);
    try {
      return await Promise.race([body(BODY_LIMIT_BYTES, take), late.promise]);
    } catch (error) {
      if (error instanceof NoRoom) return undefined;
      throw error;
    } finally {
      isOver = true;
      clearTimeout(timer);
      this.#count(source, -held);
    }
  }

  #hasRoom(source: string, bytes: number): boolean {
    const ofSource = this.#bytes.get(source) ?? 0;
    return ofSource + bytes <= MOST_OF_SOURCE_BYTES && this.#total + bytes <= MOST_BYTES;
  }

  #count(source: string, bytes: number): void {
    this.#total += bytes;
    const left = (this.#bytes.get(source) ?? 0) + bytes;
    if (left === 0) this.#bytes.delete(source);
    else this.#bytes.set(source, left);
  }
}
