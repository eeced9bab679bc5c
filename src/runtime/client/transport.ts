import { systemClock } from '../process/clock.ts';
import type { Clock } from '../process/clock.ts';
import { ApiError, TransportError } from './errors.ts';
import { attemptCall, attemptStream } from './transport/attempt.ts';
import type { Attempt } from './transport/attempt.ts';
import { Credentials } from './credentials/credentials.ts';
import { describeRequest } from './transport/describe.ts';
import { InFlight } from './transport/inFlight.ts';
import type { Release } from './transport/inFlight.ts';
import { Lane } from './transport/lane.ts';
import { LinkedAbort } from './transport/linkedAbort.ts';
import { Reachability } from './transport/reachability.ts';
import { retryPause } from './transport/retry.ts';
import { serverOf } from './credentials/server.ts';
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
/** With less time left nothing is sent: there would be no answer, only the question whether it has happened. */
const SHORTEST_ATTEMPT_MS = 10;
/** With less of an attempt's time left none is repeated: it would only hide what the one before was told. */
const LEAST_OF_ATTEMPT = 1 / 10;
/** A leader that cannot renew for 10 s must stand down: two tries of 5 s fit. */
export const LEASE_TIMEOUT_MS = 5_000;
/** Shorter than the pause between probes, so that they keep their pace. */
const PROBE_TIMEOUT_MS = 2_500;
/** A TCP handshake whose first packet was lost waits 1 s, then 2, then 4: dialling again is faster. */
const STUCK_DIAL_MS = 1_000;
/** Any user may ask for it, and it does not depend on etcd. */
const PROBE: TransportRequest = { method: 'GET', path: '/version' };

/**
 * Makes the way to the API server that the kubeconfig's current context names. Nothing is connected yet.
 *
 * @throws Error when the kubeconfig names no server, or wants a proxy, which is not supported
 */
export function createTransport(options: TransportOptions): Transport {
  return new UndiciTransport(options);
}

type Send<R> = (attempt: Attempt) => Promise<R>;

/**
 * Three connections: one for watches, one for calls, one for the lease, so that neither a burst of calls nor a large
 * initial list delays a renewal of leadership.
 */
class UndiciTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #basePath: string;
  readonly #lanes: Record<ConnectionLane, Lane>;
  readonly #credentials: Credentials;
  readonly #inFlight: InFlight;
  readonly #reachability: Reachability;
  readonly #closing = new AbortController();

  constructor(options: TransportOptions) {
    const { origin, basePath } = serverOf(options.kubeConfig);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#basePath = basePath;
    this.#lanes = {
      watch: this.#createLane('watch', origin),
      call: this.#createLane('call', origin),
      lease: this.#createLane('lease', origin),
    };
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
    await Promise.all(Object.values(this.#lanes).map((lane) => lane.close(error)));
  }

  get #attemptTimeoutMs(): number {
    return this.#options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS;
  }

  /** One attempt, when its turn has come. */
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
    const wait = new LinkedAbort([request.signal, this.#closing.signal], { clock: this.#clock, timeoutMs });
    const release = await this.#inFlight.acquire(wait.signal);
    wait.release();
    const late = wait.expired || deadline - this.#clock.monotonic() < SHORTEST_ATTEMPT_MS;
    if (release !== undefined && !late) return release;
    release?.();
    const why = late ? `its turn did not come in time, ${this.#inFlight.waiting} are waiting` : 'called off';
    const failure = late ? 'deadline' : 'aborted';
    throw new TransportError(`${request.method} ${request.path}: ${why}`, { failure, unsent: true });
  }

  /** Waits out the pause before the next attempt; false when there is to be none. */
  async #mayTryAgain(error: unknown, request: TransportRequest, attempt: number, deadline: number): Promise<boolean> {
    const pause = request.retry === false ? undefined : retryPause(error, request, attempt, Math.random());
    const latest = deadline - this.#attemptTimeoutMs * LEAST_OF_ATTEMPT;
    if (pause === undefined || this.#clock.monotonic() + pause >= latest) return false;
    this.#options.logger.debug({ err: error, attempt, pause }, 'call is repeated');
    const sources = [request.signal, this.#closing.signal];
    const wait = new LinkedAbort(sources, { clock: this.#clock, timeoutMs: deadline - this.#clock.monotonic() });
    await this.#clock.sleep(pause, wait.signal);
    wait.release();
    return !wait.signal.aborted;
  }

  /** One attempt, and a second one with everything read anew when the server did not know us (401). */
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
   * While calls end on a connection whose certificates were replaced, others do not wait for them: they share the
   * watches' new connection, so that there are three at most.
   */
  #laneFor(name: ConnectionLane): Lane {
    const { call, watch } = this.#lanes;
    return name === 'call' && call.isDraining ? watch : this.#lanes[name];
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
    for (const lane of Object.values(this.#lanes)) lane.rotate();
  }

  #redial(): void {
    const error = new Error('dialled again, since the server answers elsewhere');
    for (const lane of Object.values(this.#lanes)) lane.replaceStuckDial(STUCK_DIAL_MS, error);
  }
}
