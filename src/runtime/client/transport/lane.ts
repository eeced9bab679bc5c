import { Client, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { ConnectionOptions } from 'node:tls';
import type { Clock } from '../../process/clock.ts';
import { cancelWhatIsCalledOff } from './cancel.ts';
import { Connections, Http1OnlyError } from './connections.ts';
import type { ConnectionLane, TransportMetrics } from './types.ts';

/** What is sent. */
export interface LaneRequest {
  method: Dispatcher.HttpMethod;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Called as the request is about to be written: from then on it may have reached the server. */
  onStart: () => void;
}

export interface LaneOptions {
  name: ConnectionLane;
  /** 'https://10.96.0.1:443' */
  origin: string;
  /** Asked at each dial, so that a new connection uses the newest certificates. */
  tls: () => ConnectionOptions;
  clock: Clock;
  metrics?: TransportMetrics | undefined;
  /** How long calls on a connection that is being retired may take to end. */
  drainMs: number;
  /** How often a PING asks whether the server is there; three without a byte in return mean that it is not. */
  pingIntervalMs: number;
}

/** Longer than any pause between two passes: a connection is kept between them. */
const KEEP_ALIVE_MS = 300_000;
/** kube-apiserver's default for streams on one connection (--http2-max-streams-per-connection). */
const MAX_STREAMS = 100;
/** Enough for the calls that may be under way, and for any number of watches. */
const HTTP1_CONNECTIONS = { call: 16, lease: 2, watch: null };

/**
 * One HTTP/2 connection to the API server, dialled when needed and replaced when it breaks, goes silent or its
 * certificates change. Never two at once: a new one is dialled when the old one is closed.
 *
 * A server without HTTP/2 (plain http, a proxy that does not offer it) cannot be served by three connections, since
 * each watch occupies one: there, and only there, a lane is a pool of HTTP/1.1 connections. There are no PINGs either, so
 * that a watch that went silent is only noticed by TCP's keep-alive, or at its own end.
 */
export class Lane {
  readonly #options: LaneOptions;
  readonly #connections: Connections;
  #http1: boolean;
  #dispatcher: Dispatcher | undefined;
  /** Retired, with calls under way. */
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

  /** Sends one request; resolves when the headers of the response are there. */
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

  /** Bytes received so far over all connections of this lane: the same number later means silence in between. */
  get bytesReceived(): number {
    return this.#connections.bytesReceived;
  }

  /** Cuts the connection now; what is under way fails with `error`. The next request dials anew. */
  replace(error: Error): void {
    this.#retire((old) => old.destroy(error));
    this.#connections.destroy(error);
  }

  /** Cuts a connection attempt that has been under way for more than `ms`: a fresh one may get through. */
  replaceStuckDial(ms: number, error: Error): void {
    if (this.#connections.dialledFor() > ms) this.replace(error);
  }

  /** Uses a new connection from now on; what is under way on the old one ends there. */
  rotate(): void {
    this.#retire((old) => (this.#isBusy(old) ? this.#drain(old) : old.close()));
  }

  /** True while calls end on a connection that was retired: a new one would have to wait for them. */
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
    // Deadlines are the caller's: undici's own would also end watches that have nothing to tell.
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
    // What it was doing is told to whoever waits for it; its end interests nobody.
    if (old !== undefined) end(old).catch(() => undefined);
  }
}

/** The handler, telling when its request is about to be written. */
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
