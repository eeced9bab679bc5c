import type { Logger } from '../../process/logger.ts';

/**
 * Why a request or a connection failed. The list is short, because each reason is a metric series:
 *
 * | Reason | Response |
 * |---|---|
 * | error: the handler threw or rejected | 500 |
 * | malformed: not HTTP, or a target without a path | 400 |
 * | too_large: headers or a body beyond the limit | 431, 413 |
 * | timeout: the client sends or reads too slowly | 408, or none |
 * | busy: too many concurrent requests on one connection, or too many long answers | 503 |
 * | refused: CONNECT | none |
 * | tls: no handshake | none |
 * | unauthenticated: no certificate of the client, or one of other CAs | none |
 * | connection: reset, or not HTTP/2 | none |
 * | crowded: the oldest connection, or a reader of a long answer, closed for a new one | none |
 */
export type FailureReason =
  | 'error'
  | 'malformed'
  | 'too_large'
  | 'timeout'
  | 'busy'
  | 'refused'
  | 'tls'
  | 'unauthenticated'
  | 'connection'
  | 'crowded';

/** Metrics of servers. */
export interface HttpMetrics {
  failed(server: string, reason: FailureReason): void;
}

/** Counts the failures of one server, and logs internal errors. */
export class Failures {
  readonly #server: string;
  readonly #metrics: HttpMetrics;
  readonly #logger: Logger;
  #logged: string | undefined;

  constructor(server: string, metrics: HttpMetrics, logger: Logger) {
    this.#server = server;
    this.#metrics = metrics;
    this.#logger = logger;
  }

  count(reason: FailureReason): void {
    this.#metrics.failed(this.#server, reason);
  }

  /** The handler failed. The same error is logged once, because a client can repeat its request endlessly. */
  failed(error: unknown): void {
    this.count('error');
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#logged) this.#logger.error({ err: error, server: this.#server }, 'request failed');
    this.#logged = message;
  }
}
