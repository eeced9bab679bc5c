import { pino } from 'pino';
import { vi } from 'vitest';
import { FakeClock, type Clock } from '../../process/clock.ts';
import { LeaderElector, type LeaderElectorOptions, type Leadership } from '../leaderElection.ts';
import { ApiError, TransportError } from '../../client/errors.ts';
import type { Lease, LeaseSpec } from '../lease.ts';
import { LEASE_TIMEOUT_MS, type Transport, type TransportRequest } from '../../client/transport.ts';

/** Electors that share a Lease and, unless told, a clock. */
export class Electorate {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly server = new FakeLeases();

  /** Starts an elector and lets it make its first attempt. */
  async start(identity: string, options: Partial<LeaderElectorOptions> = {}) {
    const started = vi.fn<(leadership: Leadership) => void>();
    const stopped = vi.fn<() => void>();
    const controller = new AbortController();
    const elector = new LeaderElector({
      transport: this.server.transport(identity, this.clock),
      identity,
      namespace: 'system',
      name: 'lock',
      clock: this.clock,
      logger: pino({ level: 'silent' }),
      onStartedLeading: started,
      onStoppedLeading: stopped,
      ...options,
    });
    const ended = elector.run(controller.signal);
    await this.clock.advance(0);
    const leadership = (): Leadership => started.mock.lastCall![0];
    return { elector, started, stopped, leadership, ended, stop: () => controller.abort() };
  }
}

/** Slow, but in time. */
const SLOW_MS = 2_000;

/** One Lease as an API server keeps it: with resource versions, conflicts, and clients that may be cut off. */
export class FakeLeases {
  lease: Lease | undefined;
  /** The state of the namespace of the Lease. Objects can be created only in an active namespace. */
  namespace: 'active' | 'terminating' | 'gone' = 'active';
  /** Every write that was let through, with the client that sent it. */
  readonly writes: { client: string; spec: LeaseSpec }[] = [];
  readonly requests: TransportRequest[] = [];
  /** The state of the network of a client. A client without an entry gets answers. */
  readonly network = new Map<string, 'refused' | 'hangs' | 'slow' | 'answer lost'>();
  #version = 0;

  /** Returns the transport of one client to this server. It answers at once, unless `network` has an entry for the client. */
  transport(client: string, clock: Clock): Transport {
    return {
      request: <R>(request: TransportRequest) => this.#request(client, clock, request) as Promise<R>,
      stream: () => Promise.reject(new Error('no watches here')),
      whenReachable: () => Promise.resolve(false),
      close: () => Promise.resolve(),
    };
  }

  /** Writes the Lease as a client outside of the test. */
  replace(spec: LeaseSpec): void {
    this.lease = { metadata: { name: 'lock', resourceVersion: `${++this.#version}` }, spec };
  }

  async #request(client: string, clock: Clock, request: TransportRequest): Promise<Lease> {
    request.guard?.();
    this.requests.push(request);
    const network = this.network.get(client);
    if (network === 'refused') throw new TransportError('refused', { failure: 'connection', unsent: true });
    if (network === 'hangs') await hang(clock, request.signal);
    if (network === 'slow') await clock.sleep(SLOW_MS, request.signal);
    const answer = this.#serve(client, request);
    if (network === 'answer lost') throw new TransportError('answer lost', { failure: 'deadline' });
    return answer;
  }

  #serve(client: string, { method, path, body }: TransportRequest): Lease {
    const refuse = (status: number, reason: string): ApiError => new ApiError({ status, reason, method, path });
    if (method === 'GET') {
      if (this.lease === undefined) throw refuse(404, 'NotFound');
      return this.lease;
    }
    const { metadata, spec = {} } = body as Lease;
    const version = this.lease?.metadata?.resourceVersion;
    if (method === 'PUT' && this.lease === undefined) throw refuse(404, 'NotFound');
    if (method === 'PUT' && metadata?.resourceVersion !== version) throw refuse(409, 'Conflict');
    if (method === 'POST' && this.lease !== undefined) throw refuse(409, 'AlreadyExists');
    if (method === 'POST' && this.namespace !== 'active') throw refusedIn(this.namespace, path);
    this.replace(structuredClone(spec));
    this.writes.push({ client, spec });
    return this.lease!;
  }
}

/** The API server's answers to a creation in such a namespace (plugin NamespaceLifecycle). */
function refusedIn(namespace: 'terminating' | 'gone', path: string): ApiError {
  const request = { method: 'POST', path };
  if (namespace === 'gone') return new ApiError({ ...request, status: 404, reason: 'NotFound' });
  const causes = [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }];
  return new ApiError({ ...request, status: 403, reason: 'Forbidden', causes });
}

async function hang(clock: Clock, signal: AbortSignal | undefined): Promise<never> {
  await clock.sleep(LEASE_TIMEOUT_MS, signal);
  throw new TransportError('no answer', { failure: signal?.aborted ? 'aborted' : 'deadline' });
}
