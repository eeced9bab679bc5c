/** Limits of a server. Times in ms. */
export interface HttpLimits {
  /** For a TLS handshake, for the headers of a request, and for the first request of an HTTP/2 session. */
  readonly headersMs: number;
  /** For a whole request, including its body. */
  readonly requestMs: number;
  /** Maximum time without progress on a connection with a request in progress, such as a client that does not read. */
  readonly stalledMs: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveMs: number;
  /** The same while more than `crowd` connections are open. */
  readonly crowdedKeepAliveMs: number;
  /** Connections. */
  readonly crowd: number;
  /** Interval of Node.js' check for slow requests. */
  readonly checkMs: number;
  /** Maximum of open connections; a further one replaces the oldest. */
  readonly connections: number;
  /** Maximum of concurrent requests on one connection: pipelined, or HTTP/2 streams. */
  readonly requestsUnderWay: number;
  /** Maximum of long answers of one path that are being sent: see LongAnswers. */
  readonly longAnswers: number;
  /** For a whole long answer. `stalledMs` alone lets a client read a byte now and then for ever. */
  readonly longAnswerMs: number;
  /** A reader of a long answer that has taken no further part for so long may be closed for another reader. */
  readonly longStalledMs: number;
  /** Bytes of all headers of a request, including the request line. */
  readonly headerBytes: number;
}

/**
 * Probes and scrapes take milliseconds. The kubelet gives up after 1 s, Prometheus after 10 s.
 *
 * - stalledMs is above the 10 s that the API server has to authorize a scrape.
 * - keepAliveMs is above the longest usual scrape interval, a minute.
 * - connections times requestsUnderWay times a response of 100 kB is 80 MB, the most memory that clients that do not
 *   read can occupy. So longAnswers need not be limited; a server with more connections or longer responses needs a limit.
 * - longAnswerMs is enough for 15 MB at 1 Mbit/s.
 * - longStalledMs is enough for a part of 256 kB at 1 Mbit/s.
 * - headerBytes is the default of Node.js. A ServiceAccount token takes 1 to 2 kB.
 */
export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  stalledMs: 30_000,
  keepAliveMs: 65_000,
  crowdedKeepAliveMs: 5_000,
  crowd: Infinity,
  checkMs: 1_000,
  connections: 200,
  requestsUnderWay: 4,
  longAnswers: Infinity,
  longAnswerMs: 120_000,
  longStalledMs: 2_000,
  headerBytes: 16_384,
};
