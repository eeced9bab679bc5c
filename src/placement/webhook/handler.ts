import { InFlight } from '../../runtime/async/limit.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { HttpAnswer, HttpHandler } from '../../runtime/server/httpServer.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../runtime/server/httpServer/limits.ts';
import type { PreparedPlacement } from '../podTerms.ts';
import { WEBHOOK_PATH } from './configuration.ts';
import { answerReview } from './review.ts';

/** The API server accepts requests of up to 3 MiB, and adds about 1 KB to the pod. */
const BODY_LIMIT_BYTES = 3.5 * 1024 * 1024;
/** Bodies that are read at the same time: 16 of the largest, as bytes and as text, take about 160 MB. */
const READ_AT_ONCE = 16;
/** Further requests wait with their bodies unread. 500 pods at once take about 0.3 s. */
const MOST_WAITING = 1_000;
/** Below the 2 s after which the API server creates the pod without an answer. */
const LONGEST_WAIT_MS = 1_500;

/**
 * The limits that differ from HTTP_LIMITS. The API server sends a body at once, and uses a connection for each
 * request that is under way, since it speaks HTTP/1.1 with webhooks; it closes idle connections after 90 s.
 */
export const WEBHOOK_LIMITS: HttpLimits = {
  ...HTTP_LIMITS,
  headersMs: 3_000,
  requestMs: 4_000,
  stalledMs: 5_000,
  keepAliveMs: 120_000,
  connections: 2_000,
};

const NOT_FOUND: HttpAnswer = { status: 404, text: 'not found\n' };
const NOT_ALLOWED: HttpAnswer = { status: 405, text: 'only POST\n', headers: { allow: 'POST' } };
/** Without retry-after: the API server would ask again while the pod waits. */
const BUSY: HttpAnswer = { status: 503, text: 'too many requests\n' };

/** Answers AdmissionReviews. @param placementOf the PodPlacement of a namespace; undefined if it has none */
export function webhookHandler(
  placementOf: (namespace: string) => PreparedPlacement | undefined,
  logger: Logger,
): HttpHandler {
  const slots = new InFlight(READ_AT_ONCE);
  return async ({ path, method, body }) => {
    if (path !== WEBHOOK_PATH) return NOT_FOUND;
    if (method !== 'POST') return NOT_ALLOWED;
    if (slots.waiting >= MOST_WAITING) return BUSY;
    const release = slots.tryAcquire() ?? (await slots.acquire(AbortSignal.timeout(LONGEST_WAIT_MS)));
    if (release === undefined) return BUSY;
    try {
      const { status, text, problem } = answerReview(await body(BODY_LIMIT_BYTES), placementOf);
      if (problem !== undefined) logger.debug({ problem }, 'a pod gets no terms');
      return { status, text, ...(status === 200 && { headers: { 'content-type': 'application/json' } }) };
    } finally {
      release();
    }
  };
}
