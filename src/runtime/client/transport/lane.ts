import { Client, Pool, type Dispatcher } from 'undici';
import type { ConnectionOptions } from 'node:tls';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { constants, type ClientHttp2Stream } from 'node:http2';
import type { Clock } from '../../process/clock.ts';
import { Connections, Http1OnlyError } from './connections.ts';
import type { ConnectionLane, TransportMetrics } from './types.ts';

/** One HTTP request. */
export interface LaneRequest {
  method: Dispatcher.HttpMethod;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Called right before the request is written. From then on it may have reached the server. */
  onStart: () => void;
}

interface LaneOptions {
  name: ConnectionLane;
  /** 'https://10.96.0.1:443' */
  origin: string;
  /** Called at each dial, so that a new connection uses the newest certificates. */
  tls: () => ConnectionOptions;
  clock: Clock;
  metrics?: TransportMetrics | undefined;
  /** Time for calls to finish on a connection that is being replaced. */
  drainMs: number;
  /** Interval of PINGs. After three PINGs without a byte in return the connection counts as dead. */
  pingIntervalMs: number;
}

/** Longer than any pause between two passes, so that connections stay open between passes. */
const KEEP_ALIVE_MS = 300_000;
/** kube-apiserver's default for streams on one connection (--http2-max-streams-per-connection). */
const MAX_STREAMS = 100;
/** Enough for all concurrent calls and for any number of watches. */
const HTTP1_CONNECTIONS = { call: 16, lease: 2, watch: null };

/**
 * One HTTP/2 connection to the API server. It is dialled when needed, and replaced when it breaks, goes silent or its
 * certificates change. A lane never has two connections: it dials a new one after the old one is closed.
 *
 * Without HTTP/2 (plain http, or a proxy without HTTP/2) each watch occupies a connection. Only then a lane is a pool
 * of HTTP/1.1 connections. HTTP/1.1 has no PINGs, so only TCP's keep-alive, or the end of the watch, reveals a silent
 * watch.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #connections: Connections;
  #http1: boolean;
  #dispatcher: Dispatcher | undefined;
  /** Replaced connections with calls in progress. */
  readonly #draining = new Set<Client>();
  #closed = false;

  constructor(options: LaneOptions) {
    cancelWhatIsCalledOff();
    this.#options = options;
    this.#http1 = options.origin.startsWith('http:');
    this.#connections = new Connections({
      ...options,
      checkMs: options.pingIntervalMs,
      onSilent: (error) => this.replace(error),
    });
  }

  /** Sends one request; resolves when the response headers have arrived. */
  async request(request: LaneRequest): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#send(request);
    } catch (error) {
      if (!(error instanceof Http1OnlyError) || request.signal.aborted) throw error;
      if (!this.#http1) {
        this.#http1 = true;
        this.#retire((old) => old.destroy());
      }
      return this.#send(request);
    }
  }

  /** True if a further request would wait for one of those in progress. */
  get isFull(): boolean {
    return this.#inProgress >= MAX_STREAMS;
  }

  /** True if no request is in progress. */
  get isIdle(): boolean {
    return this.#inProgress === 0;
  }

  /** Bytes received so far over all connections of this lane. An unchanged number means silence. */
  get bytesReceived(): number {
    return this.#connections.bytesReceived;
  }

  /** Closes the connection now. Requests in progress fail with `error`; the next request opens a new connection. */
  replace(error: Error): void {
    this.#retire((old) => old.destroy(error));
    this.#connections.destroy(error);
  }

  /** Aborts a connection attempt that is older than `ms`, because a new attempt may succeed. */
  replaceStuckDial(ms: number, error: Error): void {
    if (this.#connections.dialledFor() > ms) this.replace(error);
  }

  /** Uses a new connection from now on. Requests in progress finish on the old one. */
  rotate(): void {
    this.#retire((old) => (this.#isBusy(old) ? this.#drain(old) : old.close()));
  }

  /** True while calls finish on a replaced connection; a new connection has to wait for them. */
  get isDraining(): boolean {
    return this.#draining.size > 0;
  }

  async close(error: Error): Promise<void> {
    this.#closed = true;
    const old = this.#dispatcher;
    this.#dispatcher = undefined;
    await old?.destroy(error);
    this.#connections.close(error);
  }

  #send({ onStart, body, ...request }: LaneRequest): Promise<Dispatcher.ResponseData> {
    if (this.#closed) return Promise.reject(new Error('closed'));
    this.#dispatcher ??= this.#createDispatcher();
    // The caller sets deadlines: undici's own would also end idle watches.
    const options = { ...request, body: body ?? null, headersTimeout: 0, bodyTimeout: 0 };
    const noted = this.#dispatcher.compose(
      (dispatch) => (dispatched, handler) => dispatch(dispatched, notingStart(handler, onStart)),
    );
    return noted.request(options);
  }

  #createDispatcher(): Dispatcher {
    const { origin, name } = this.#options;
    if (this.#http1) {
      const connect = this.#connections.connector(false);
      return new Pool(origin, { connections: HTTP1_CONNECTIONS[name], connect, allowH2: false });
    }
    return new Client(origin, {
      connect: this.#connections.connector(true),
      keepAliveTimeout: KEEP_ALIVE_MS,
      h2Options: { pingInterval: this.#options.pingIntervalMs, maxConcurrentStreams: MAX_STREAMS },
    });
  }

  /** A pool opens a connection for each watch, so its number does not matter. */
  get #inProgress(): number {
    return this.#dispatcher instanceof Client ? this.#dispatcher.stats.size : 0;
  }

  #isBusy(dispatcher: Dispatcher): dispatcher is Client {
    return this.#options.name !== 'watch' && dispatcher instanceof Client && dispatcher.stats.size > 0;
  }

  async #drain(old: Client): Promise<void> {
    this.#draining.add(old);
    try {
      await old.close();
    } finally {
      this.#draining.delete(old);
    }
  }

  #retire(end: (dispatcher: Dispatcher) => Promise<unknown>): void {
    const old = this.#dispatcher;
    this.#dispatcher = undefined;
    // Pending requests reject by themselves; the result of closing is irrelevant.
    if (old !== undefined) end(old).catch(() => undefined);
  }
}

/** Connections for watches: one for each hundred watches. The first stays open; each further connection is closed when its watches have ended. */
export class WatchLanes {
  readonly #create: () => Lane;
  #lanes: readonly [Lane, ...Lane[]];

  constructor(create: () => Lane) {
    this.#create = create;
    this.#lanes = [create()];
  }

  get all(): readonly Lane[] {
    return this.#lanes;
  }

  /** Returns a lane with room for a watch. */
  next(): Lane {
    const free = this.#lanes.find((lane) => !lane.isFull);
    if (free === undefined) this.#lanes = [...this.#lanes, this.#create()];
    const next = free ?? this.#lanes.at(-1) ?? this.#lanes[0];
    this.#closeIdle(next);
    return next;
  }

  #closeIdle(next: Lane): void {
    const [first, ...others] = this.#lanes;
    const idle = others.filter((lane) => lane !== next && lane.isIdle);
    if (idle.length === 0) return;
    this.#lanes = [first, ...others.filter((lane) => !idle.includes(lane))];
    for (const lane of idle) lane.close(new Error('no longer needed')).catch(() => undefined);
  }
}

/** Wraps the handler to report when its request is about to be written. */
function notingStart(handler: Dispatcher.DispatchHandler, onStart: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context: unknown) {
      onStart();
      handler.onRequestStart?.(controller, context);
    },
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  };
}

/** Published by Node for each stream that this process opens. */
const CREATED = 'http2.client.stream.created';

/**
 * Makes cancelled HTTP/2 requests end with CANCEL, as in RFC 9113 (section 7), instead of NO_ERROR.
 *
 * This avoids an endless loop in this process. undici 8.12 cancels a request with `close()` and `destroy()` of its
 * stream in one step. With NO_ERROR, Node 24 delays the RST_STREAM until the request's body is written, which the
 * destroyed stream never does. nghttp2 then creates empty DATA frames forever, within one turn of the event loop, until
 * memory runs out. It happens to a request that is cancelled while it is being sent, for example by SIGTERM. With an
 * error code Node does not delay the RST_STREAM.
 */
function cancelWhatIsCalledOff(): void {
  // Process-wide; further calls have no effect.
  unsubscribe(CREATED, onCreated);
  subscribe(CREATED, onCreated);
}

function onCreated(message: unknown): void {
  const { stream } = message as { stream: ClientHttp2Stream };
  const close = stream.close.bind(stream);
  stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
}
