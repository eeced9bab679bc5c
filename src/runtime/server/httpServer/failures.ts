import type { Logger } from '../../process/logger.ts';

/**
 * Why a request or a connection came to nothing. Few, since each is a series of its own:
 *
 * | Reason | Answer |
 * |---|---|
 * | error: whoever answers threw or rejected | 500 |
 * | malformed: not HTTP, or a target without a path | 400 |
 * | too_large: headers beyond the limit | 431 |
 * | timeout: the sender is slow, or the reader | 408, or none |
 * | busy: more requests at once than one connection may have | 503 |
 * | refused: CONNECT | none |
 * | tls: no handshake | none |
 * | connection: reset, or not HTTP/2 | none |
 * | crowded: the oldest of too many connections | none |
 */
export type FailureReason =
  'error' | 'malformed' | 'too_large' | 'timeout' | 'busy' | 'refused' | 'tls' | 'connection' | 'crowded';

/** What servers tell their numbers to. */
export interface HttpMetrics {
  failed(server: string, reason: FailureReason): void;
}

/** Counts what failed on one server, and logs what is a fault of the program. */
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

  /** Whoever answers failed. The same error is logged once, since a client can repeat its request without end. */
  failed(error: unknown): void {
    this.count('error');
    const message = error instanceof Error ? error.message : String(error);
    if (message !== this.#logged) this.#logger.error({ err: error, server: this.#server }, 'request failed');
    this.#logged = message;
  }
}
