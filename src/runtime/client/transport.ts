import { systemClock, type Clock } from '../process/clock.ts';
import { ApiError, TransportError } from './errors.ts';
import { attemptCall, attemptStream, type Attempt } from './transport/attempt.ts';
import { Credentials, serverOf } from './credentials.ts';
import { InFlight, type Release } from '../async/limit.ts';
import { Lane, WatchLanes } from './transport/lane.ts';
import { LinkedAbort } from '../async/deadline.ts';
import { Reachability, retryPause } from './transport/retry.ts';
import type { ConnectionLane, Transport, TransportOptions, TransportRequest } from './transport/types.ts';

export type {
  ConnectionLane,
  Transport,
  TransportMetrics,
  TransportOptions,
  TransportRequest,
} from './transport/types.ts';

const ATTEMPT_TIMEOUT_MS = 10_000;
const CALL_TIMEOUT_MS = 30_000;
const MAX_IN_FLIGHT = 16;
const PING_INTERVAL_MS = 5_000;
const CREDENTIALS_INTERVAL_MS = 10_000;
/** With less time left nothing is sent: the response would come too late, and the outcome would be unknown. */
const SHORTEST_ATTEMPT_MS = 10;
/** With a smaller share of an attempt's time left there is no retry: its timeout would hide the previous error. */
const LEAST_OF_ATTEMPT = 1 / 10;
/** A leader that cannot renew for 10 s must step down: two attempts of 5 s fit. */
export const LEASE_TIMEOUT_MS = 5_000;
/** Shorter than the interval between probes, so that probes do not overlap. */
const PROBE_TIMEOUT_MS = 2_500;
/** A TCP handshake that lost its first packet waits 1 s, then 2, then 4: a new connection is faster. */
const STUCK_DIAL_MS = 1_000;
/** The probe: every user may get this path, and it does not depend on etcd. */
const PROBE: TransportRequest = { method: 'GET', path: '/version' };

/**
 * Creates the transport to the API server of the kubeconfig's current context. It does not connect yet.
 *
 * @throws Error if the kubeconfig names no server, or requires a proxy, which is not supported
 */
export function createTransport(options: TransportOptions): Transport {
  return new UndiciTransport(options);
}

type Send<R> = (attempt: Attempt) => Promise<R>;

/**
 * Uses three connections: one for watches, one for calls, one for the Lease. A burst of calls or a large initial list
 * therefore does not delay a renewal of the Lease. More than 100 watches have further connections.
 */
class UndiciTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #basePath: string;
  readonly #lanes: Record<'call' | 'lease', Lane>;
  readonly #watchLanes: WatchLanes;
  readonly #credentials: Credentials;
  readonly #inFlight: InFlight;
  readonly #reachability: Reachability;
  readonly #closing = new AbortController();

  constructor(options: TransportOptions) {
    const { origin, basePath } = serverOf(options.kubeConfig);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#basePath = basePath;
    this.#lanes = { call: this.#createLane('call', origin), lease: this.#createLane('lease', origin) };
    this.#watchLanes = new WatchLanes(() => this.#createLane('watch', origin));
    this.#inFlight = new InFlight(options.maxInFlight ?? MAX_IN_FLIGHT);
    this.#credentials = new Credentials({
      kubeConfig: options.kubeConfig,
      clock: this.#clock,
      logger: options.logger,
      intervalMs: options.credentialsIntervalMs ?? CREDENTIALS_INTERVAL_MS,
      onTlsChange: () => this.#rotate(),
    });
    this.#reachability = new Reachability({
      clock: this.#clock,
      probe: () => this.#authenticated(attemptCall, PROBE, 'call', PROBE_TIMEOUT_MS),
      onAnswer: () => this.#redial(),
    });
  }

  async request<R>(request: TransportRequest): Promise<R> {
    if (request.lane === 'lease') {
      return (await this.#authenticated(attemptCall, request, 'lease', LEASE_TIMEOUT_MS)) as R;
    }
    const deadline = this.#clock.monotonic() + (this.#options.callTimeoutMs ?? CALL_TIMEOUT_MS);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await this.#inTurn(request, deadline)) as R;
      } catch (error) {
        if (!(await this.#mayTryAgain(error, request, attempt, deadline))) throw error;
      }
    }
  }

  stream(request: TransportRequest): Promise<AsyncIterable<Uint8Array>> {
    return this.#authenticated(attemptStream, request, 'watch', this.#attemptTimeoutMs);
  }

  whenReachable(signal?: AbortSignal): Promise<boolean> {
    if (this.#closing.signal.aborted) return Promise.resolve(false);
    return this.#reachability.whenReachable(signal ?? this.#closing.signal);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#credentials.close();
    this.#reachability.close();
    const error = new Error('shutdown');
    await Promise.all(this.#allLanes.map((lane) => lane.close(error)));
  }

  get #attemptTimeoutMs(): number {
    return this.#options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS;
  }

  /** Waits for a free slot and makes one attempt. */
  async #inTurn(request: TransportRequest, deadline: number): Promise<unknown> {
    const release = await this.#turn(request, deadline);
    try {
      const timeoutMs = Math.min(this.#attemptTimeoutMs, deadline - this.#clock.monotonic());
      return await this.#authenticated(attemptCall, request, 'call', timeoutMs);
    } finally {
      release();
    }
  }

  async #turn(request: TransportRequest, deadline: number): Promise<Release> {
    const timeoutMs = deadline - this.#clock.monotonic();
    const isCancelled = request.signal?.aborted === true || this.#closing.signal.aborted;
    // Usually one is free: then no timer and no listeners are needed.
    const free = isCancelled || timeoutMs < SHORTEST_ATTEMPT_MS ? undefined : this.#inFlight.tryAcquire();
    if (free !== undefined) return free;
    const wait = new LinkedAbort([request.signal, this.#closing.signal], { clock: this.#clock, timeoutMs });
    const release = await this.#inFlight.acquire(wait.signal);
    wait.release();
    const late = wait.expired || deadline - this.#clock.monotonic() < SHORTEST_ATTEMPT_MS;
    if (release !== undefined && !late) return release;
    release?.();
    const why = late ? `no free slot before the deadline, ${this.#inFlight.waiting} calls are waiting` : 'cancelled';
    const failure = late ? 'deadline' : 'aborted';
    throw new TransportError(`${request.method} ${request.path}: ${why}`, { failure, unsent: true });
  }

  /** Waits before the next attempt; false if there is no next attempt. */
  async #mayTryAgain(error: unknown, request: TransportRequest, attempt: number, deadline: number): Promise<boolean> {
    const pause = request.retry === false ? undefined : retryPause(error, request, attempt, Math.random());
    const latest = deadline - this.#attemptTimeoutMs * LEAST_OF_ATTEMPT;
    if (pause === undefined || this.#clock.monotonic() + pause >= latest) return false;
    this.#options.logger.debug({ err: error, attempt, pause }, 'retrying call');
    const sources = [request.signal, this.#closing.signal];
    const wait = new LinkedAbort(sources, { clock: this.#clock, timeoutMs: deadline - this.#clock.monotonic() });
    await this.#clock.sleep(pause, wait.signal);
    wait.release();
    return !wait.signal.aborted;
  }

  /** One attempt, and after 401 a second one with reloaded credentials. */
  async #authenticated<R>(
    send: Send<R>,
    request: TransportRequest,
    lane: ConnectionLane,
    timeoutMs: number,
  ): Promise<R> {
    const deadline = this.#clock.monotonic() + timeoutMs;
    const attempt = {
      request,
      lane: () => this.#laneFor(lane),
      basePath: this.#basePath,
      clock: this.#clock,
      closing: this.#closing.signal,
    };
    try {
      return await this.#measured(send, { ...attempt, timeoutMs, identity: () => this.#credentials.current() });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      const left = deadline - this.#clock.monotonic();
      return this.#measured(send, { ...attempt, timeoutMs: left, identity: () => this.#freshIdentity() });
    }
  }

  async #freshIdentity(): ReturnType<Credentials['current']> {
    await this.#credentials.refresh();
    return this.#credentials.current();
  }

  async #measured<R>(send: Send<R>, attempt: Omit<Attempt, 'onStatus'>): Promise<R> {
    const begun = this.#clock.monotonic();
    let code = '';
    try {
      return await send({ ...attempt, onStatus: (status) => void (code = String(status)) });
    } catch (error) {
      if (!(error instanceof ApiError)) code = error instanceof TransportError ? error.failure : 'refused';
      throw error;
    } finally {
      const labels = { ...describeRequest(attempt.request), code };
      this.#options.metrics?.attemptEnded(labels, (this.#clock.monotonic() - begun) / 1000);
    }
  }

  /**
   * The connection for a call. While calls finish on a connection with replaced certificates, new calls do not wait:
   * they share the new connection of the watches, so that there is no further connection.
   */
  #laneFor(name: ConnectionLane): Lane {
    const isOfWatches = name === 'watch' || (name === 'call' && this.#lanes.call.isDraining);
    return isOfWatches ? this.#watchLanes.next() : this.#lanes[name];
  }

  get #allLanes(): readonly Lane[] {
    return [...this.#watchLanes.all, ...Object.values(this.#lanes)];
  }

  #createLane(name: ConnectionLane, origin: string): Lane {
    const { metrics, pingIntervalMs = PING_INTERVAL_MS } = this.#options;
    return new Lane({
      name,
      origin,
      tls: () => this.#credentials.tls,
      clock: this.#clock,
      metrics,
      drainMs: this.#attemptTimeoutMs,
      pingIntervalMs,
    });
  }

  #rotate(): void {
    for (const lane of this.#allLanes) lane.rotate();
  }

  #redial(): void {
    const error = new Error('connection attempt replaced: the server responds on another connection');
    for (const lane of this.#allLanes) lane.replaceStuckDial(STUCK_DIAL_MS, error);
  }
}

/** Verb and resource of a request, for metrics: low cardinality, without names of objects. */
interface RequestDescription {
  verb: string;
  /** 'nodes', 'deployments.apps', 'trafficwatches.traffic.example.com/status', or '/version'. */
  resource: string;
}

const VERBS = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** Verb and resource of a request, as in the API server's own metrics. */
export function describeRequest({ method, path, query }: TransportRequest): RequestDescription {
  const { resource, named } = resourceOf(path);
  if (method !== 'GET') return { verb: VERBS[method], resource };
  if (query?.watch !== undefined && query.watch !== false) return { verb: 'watch', resource };
  return { verb: named || resource.startsWith('/') ? 'get' : 'list', resource };
}

function resourceOf(path: string): { resource: string; named: boolean } {
  const [, root, ...rest] = path.split('/');
  if (root !== 'api' && root !== 'apis') return { resource: `/${root ?? ''}`, named: false };
  const group = root === 'apis' ? rest.shift() : undefined;
  rest.shift();
  // /namespaces/<name> is itself an object; only a further segment makes it a prefix.
  if (rest[0] === 'namespaces' && rest.length > 2) rest.splice(0, 2);
  const [plural, name, subresource] = rest;
  // Users choose the group that a discovery document is requested of: see spec.targetRef.
  if (plural === undefined) return { resource: `/${root}`, named: false };
  const full = group === undefined ? plural : `${plural}.${group}`;
  return { resource: subresource === undefined ? full : `${full}/${subresource}`, named: name !== undefined };
}
