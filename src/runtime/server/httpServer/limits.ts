/** What one client may take of a server. Times in ms. */
export interface HttpLimits {
  /** For a TLS handshake, for the headers of a request, and for the first request of an HTTP/2 session. */
  readonly headersMs: number;
  /** For a whole request, its body included. */
  readonly requestMs: number;
  /** How long nothing may move on a connection whose request is under way, such as one whose client does not read. */
  readonly stalledMs: number;
  /** How long a connection is kept for the next request. */
  readonly keepAliveMs: number;
  /** How often Node.js looks for requests that take too long. */
  readonly checkMs: number;
  /** At once; one more takes the place of the oldest. */
  readonly connections: number;
  /** On one connection at once: pipelined, or streams of HTTP/2. */
  readonly requestsUnderWay: number;
  /** Bytes of all headers of a request, its first line included. */
  readonly headerBytes: number;
}

/**
 * Probes and scrapes take milliseconds, and give up after 1 s (the kubelet) and 10 s (Prometheus).
 *
 * - stalledMs is above the time that the API server gets for its verdict on a scrape, 10 s.
 * - keepAliveMs is above the longest usual interval of scrapes, a minute.
 * - connections times requestsUnderWay times an answer of 100 kB is 80 MB: what clients that do not read can make the
 *   server hold.
 * - headerBytes is the default of Node.js: a token of a ServiceAccount takes 1 to 2 kB.
 */
export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  stalledMs: 30_000,
  keepAliveMs: 65_000,
  checkMs: 1_000,
  connections: 200,
  requestsUnderWay: 4,
  headerBytes: 16_384,
};
