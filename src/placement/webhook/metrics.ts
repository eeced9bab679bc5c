import { Counter, Histogram, type Registry } from 'prom-client';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import type { FailureReason, HttpMetrics } from '../../runtime/server/httpServer/failures.ts';

/**
 * The outcome of a request. The API server creates the pod in each case:
 *
 * | result          | the pod                  | when                                                                   |
 * |-----------------|--------------------------|------------------------------------------------------------------------|
 * | patched         | gets its terms           |                                                                        |
 * | unchanged       | needs none, or has them  |                                                                        |
 * | failed          | gets none                | it cannot be evaluated, or has too many parts                          |
 * | malformed       | gets none                | no AdmissionReview of a new pod, no HTTP, or too large                 |
 * | overloaded      | gets none                | too many requests or connections, or a body that comes too slowly      |
 * | unauthenticated | gets none                | with --client-ca-file: a client without a certificate of these CAs     |
 */
const RESULTS = ['patched', 'unchanged', 'failed', 'malformed', 'overloaded', 'unauthenticated'] as const;
export type RequestResult = (typeof RESULTS)[number];

/** Seconds. An answer takes about a millisecond; the API server waits for 2 s. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Requests and connections that never reach the handler. */
const OF_SERVER: Partial<Record<FailureReason, RequestResult>> = {
  malformed: 'malformed',
  too_large: 'malformed',
  busy: 'overloaded',
  crowded: 'overloaded',
  unauthenticated: 'unauthenticated',
};

/** The metrics of the webhook. */
export interface WebhookMetrics {
  /** A request was answered. @param seconds from its headers to the answer */
  answered(result: RequestResult, seconds: number): void;
  /** Counts the failures of the webhook's server, besides counting them for its server. */
  of(http: HttpMetrics): HttpMetrics;
}

/** Registers the metrics of the webhook. Each result has a series from the start on, so that its first request counts as an increase. */
export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: `${METRIC_PREFIX}placement_webhook_requests_total`,
    help: `Requests to the placement webhook by result: ${RESULTS.join(', ')}. Pods get no terms with the last four.`,
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: `${METRIC_PREFIX}placement_webhook_request_duration_seconds`,
    help: 'Time from the headers of a request to the placement webhook to its answer. The API server waits for 2 s.',
    buckets: BUCKETS,
    registers,
  });
  for (const result of RESULTS) requests.inc({ result }, 0);
  return {
    answered(result, seconds) {
      requests.inc({ result });
      duration.observe(seconds);
    },
    of: (http) => ({
      failed(server, reason) {
        http.failed(server, reason);
        const result = OF_SERVER[reason];
        if (result !== undefined) requests.inc({ result });
      },
    }),
  };
}
