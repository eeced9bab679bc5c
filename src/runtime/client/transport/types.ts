import type { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../process/logger.ts';

/**
 * The connection of a call. `lease` has its own connection, a deadline of 5 s and no retries, and does not wait for
 * other calls, so that a busy operator does not lose leadership.
 */
type Lane = 'shared' | 'lease';

/** A call or a watch. */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path on the API server, already escaped. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Content type of the body; default: 'application/json'. It decides whether a PATCH can be retried. */
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
  lane?: Lane;
  /** Called right before every attempt. If it throws, nothing is sent and the call rejects with its error. */
  guard?: () => void;
  /** False: only one attempt, for a caller with its own retries. */
  retry?: boolean;
}

/** Connection to one API server. */
export interface Transport {
  /**
   * Sends one call and retries it while that is safe and the deadline allows it. Resolves with the parsed JSON body.
   *
   * @throws ApiError if the server rejected the call; TransportError if there was no response
   */
  request<R>(request: TransportRequest): Promise<R>;
  /**
   * Opens a watch. Resolves when the response headers have arrived (at most 10 s). After that there is no deadline, and
   * the watch does not count towards `maxInFlight`. No retry. Iterating throws TransportError if the connection is
   * lost.
   */
  stream(request: TransportRequest): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Resolves when the API server responds again, or when `signal` is aborted. Never rejects. All callers share one
   * probe, sent at most every 3 s.
   *
   * @returns whether there was an outage: false if the first probe got a response
   */
  whenReachable(signal?: AbortSignal): Promise<boolean>;
  /** Ends every call and watch with a TransportError ('aborted') and closes the connections. */
  close(): Promise<void>;
}

/** Metrics of a transport. src/runtime/manager/metrics.ts implements them with prom-client. */
export interface TransportMetrics {
  /**
   * An attempt ended. `code` is the HTTP status. Without a valid response it is 'connection', 'deadline', 'aborted' or
   * 'garbage', or 'refused' by the request's own guard. `verb` is the Kubernetes verb (get, list, watch, create,
   * update, patch, delete).
   */
  attemptEnded(labels: { verb: string; resource: string; code: string }, seconds: number): void;
  connectionOpened(lane: ConnectionLane): void;
  connectionClosed(lane: ConnectionLane): void;
}

/** The three connections. */
export type ConnectionLane = 'watch' | 'call' | 'lease';

export interface TransportOptions {
  kubeConfig: KubeConfig;
  logger: Logger;
  metrics?: TransportMetrics;
  clock?: Clock;
  /** Deadline of one attempt, and of a watch's headers; default: 10 s. */
  attemptTimeoutMs?: number;
  /** Deadline of a call including retries and the wait for a free slot; default: 30 s. */
  callTimeoutMs?: number;
  /** Maximum of concurrent calls, without watches and the lease lane; default: 16. */
  maxInFlight?: number;
  /**
   * Interval of HTTP/2 PINGs; default: 5 s. After three PINGs without a byte in return, 15 s, the connection counts as
   * dead. client-go takes up to 45 s (ReadIdleTimeout 30 s, PingTimeout 15 s).
   */
  pingIntervalMs?: number;
  /** Interval of checking certificate and token files when there are no calls; default: 10 s. */
  credentialsIntervalMs?: number;
}
