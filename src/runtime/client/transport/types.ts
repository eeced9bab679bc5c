import type { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../process/logger.ts';

/**
 * Which connection a call goes over. `lease` has a connection of its own, a 5 s deadline, no retries, and does not
 * wait behind the other calls: leadership must not be lost because the operator is busy.
 */
export type Lane = 'shared' | 'lease';

/** One call, or one watch. */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path on the API server, already escaped. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Of the body; 'application/json' unless told. Decides whether a PATCH can be repeated. */
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
  lane?: Lane;
  /** Asked right before every attempt; what it throws ends the call, and nothing is sent. */
  guard?: () => void;
  /** False: one attempt only, for a caller with a pace of its own. */
  retry?: boolean;
}

/** The way to one API server. */
export interface Transport {
  /**
   * One call, repeated while that is safe and in time. Resolves with the parsed JSON body.
   *
   * @throws ApiError when the server refused; TransportError when there was no answer
   */
  request<R>(request: TransportRequest): Promise<R>;
  /**
   * Opens a watch. Resolves when the response's headers are there (10 s at most); from then on there is no deadline,
   * and it takes none of the 16 places. Not retried. Iterating throws a TransportError when the connection is lost.
   */
  stream(request: TransportRequest): Promise<AsyncIterable<Uint8Array>>;
  /**
   * Resolves when the API server answers again, or when `signal` is aborted: never rejects. However many wait, one
   * probe is under way, every 3 s at most.
   *
   * @returns whether there was an outage: false where the first probe was answered
   */
  whenReachable(signal?: AbortSignal): Promise<boolean>;
  /** Ends every call and watch with a TransportError ('aborted') and closes the connections. */
  close(): Promise<void>;
}

/** What a transport tells of itself; implemented over prom-client elsewhere. */
export interface TransportMetrics {
  /**
   * An attempt ended. `code` is the HTTP status, or 'connection', 'deadline', 'aborted', 'garbage' when there was no
   * answer that could be understood, or 'refused' by the request's own guard; `verb` as Kubernetes has it (get, list,
   * watch, create, update, patch, delete).
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
  /** Deadline of one attempt, and of a watch's headers. 10 s unless told. */
  attemptTimeoutMs?: number;
  /** Deadline of a call with its retries and its wait for a free place. 30 s unless told. */
  callTimeoutMs?: number;
  /** Calls under way at once; watches and the lease lane are not counted. 16 unless told. */
  maxInFlight?: number;
  /**
   * How often a PING asks whether the server is there; 5 s unless told. Three without a byte in return mean that it is
   * not: 15 s, where client-go takes up to 45 (ReadIdleTimeout 30 s, PingTimeout 15 s).
   */
  pingIntervalMs?: number;
  /** How often files with certificates and tokens are looked at when no call does it. 10 s unless told. */
  credentialsIntervalMs?: number;
}
