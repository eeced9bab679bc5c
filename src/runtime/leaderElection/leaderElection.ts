import type { V1Lease } from '@kubernetes/client-node';
import type { WriteGate } from '../client/client.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import { isConflict, isNotFound, NotLeaderError } from '../client/errors.ts';
import type { Informer } from '../cache/informer.ts';
import { asLease, LeaseStore, releasedSpec, takenSpec, type Lease } from './lease.ts';
import { Term, Vacancy } from './term.ts';
import type { Logger } from '../process/logger.ts';
import type { Transport } from '../client/transport.ts';

/** Leadership of this process: valid while `isLeader` is true. `signal` is aborted when it ends. */
export type Leadership = WriteGate;

export interface LeaderElectorOptions {
  transport: Transport;
  /** Unique for each process, ever: two processes with the same identity would both lead. */
  identity: string;
  namespace: string;
  /** Name of the Lease. */
  name: string;
  /** A running informer of the Lease, which reports a release at once. Without it the Lease is polled. */
  leases?: Informer<V1Lease>;
  clock?: Clock;
  logger: Logger;
  /** How long a Lease stays with its holder without a renewal. */
  leaseDurationMs?: number;
  /** How long the holder leads without a renewal; clearly less than the Lease's duration. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  onStartedLeading(leadership: Leadership): void;
  onStoppedLeading(): void;
  /**
   * Called after each attempt while nobody leads and nobody can, because the Lease's namespace is gone or is being
   * deleted: not before that was so for `leaseDurationMs`.
   */
  onVacant?(): void;
}

/**
 * A standby that hears of no renewal polls every 2 to 2.4 s, so that it notices a release within 3 s even without a watch.
 * client-go spreads its polls up to 4.4 s, which is unnecessary for a few replicas.
 */
const JITTER_FACTOR = 0.2;

/**
 * Deadline for releasing the Lease at a stop, if the API server does not respond; other replicas then take over when
 * the Lease expires. Together with 1.5 s for draining controllers it fits into the 4.5 s of a shutdown.
 */
const RELEASE_TIMEOUT_MS = 2_500;

/** The aborted signal of a process that does not lead. */
const ENDED = AbortSignal.abort(new NotLeaderError());

/**
 * Elects one leader among the processes that share a Lease, with the semantics of client-go (tools/leaderelection). A
 * Lease belongs to its holder until this process has seen it unchanged for its whole duration, by its own clock. Writes
 * contain the resource version that was read, so that only one of two candidates succeeds.
 *
 * There are three differences. First, a leader that cannot renew its Lease does not exit but stands by again. This is
 * safe, because all writes pass the gate of this elector (leaderOnly), and no other state of a leader can act. Second,
 * a standby tries again as soon as the Lease expires, not up to 4.4 s later. Third, it reads the Lease only if the watch
 * has told no renewal for 2 s, so that idle replicas cost the API server little.
 */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #store: LeaseStore;
  readonly #vacancy: Vacancy;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  #term: Term | undefined;
  /** The last Lease that was read or written. */
  #lease: Lease | undefined;
  /** Its spec as text, the time when that spec was first seen (monotonic milliseconds), and its duration. */
  #observed = { spec: '', at: 0, durationMs: 0 };
  /** True after a request for the Lease without a response: this process may hold it. */
  #isUnsure = false;
  /** Ends the standby's pause. */
  #wake = new AbortController();

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger.child({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    this.#store = new LeaseStore(options.transport, { namespace: options.namespace, name: options.name });
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryPeriodMs = options.retryPeriodMs ?? 2_000;
    this.#vacancy = new Vacancy(this.#clock, this.#leaseDurationMs);
  }

  /** Whether this process leads now, by the clock. */
  get isLeader(): boolean {
    return this.#term?.isLeader ?? false;
  }

  /** Aborted when the current leadership ends; already aborted if there is none. */
  get signal(): AbortSignal {
    return this.isLeader && this.#term !== undefined ? this.#term.signal : ENDED;
  }

  /** @throws NotLeaderError if this process does not lead now */
  assertLeading(): void {
    if (!this.isLeader) {
      throw new NotLeaderError();
    }
  }

  /** Stands by and leads until `signal` is aborted, then releases the Lease. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.leases?.subscribe(({ type, object }) => this.#saw(type, asLease(object)));
    while (!signal.aborted) {
      const term = await this.#acquire(signal);
      if (term !== undefined) {
        await this.#lead(term, signal);
      }
    }
    unsubscribe?.();
  }

  async #acquire(signal: AbortSignal): Promise<Term | undefined> {
    while (!signal.aborted) {
      // Before the attempt, so that no watch event during the attempt is missed.
      this.#wake = new AbortController();
      const startedAt = this.#clock.monotonic();
      if (await this.#attempted(() => this.#tryToTake(signal), this.#vacancy)) {
        return new Term(this.#clock, startedAt, this.#renewDeadlineMs);
      }
      if (this.#vacancy.isCertain) this.#call(() => this.#options.onVacant?.());
      await this.#pause(AbortSignal.any([signal, this.#wake.signal]));
    }
    if (this.#isUnsure) await this.#attempted(() => this.#release());
    return undefined;
  }

  async #lead(term: Term, signal: AbortSignal): Promise<void> {
    this.#term = term;
    this.#logger.info('started leading');
    this.#call(() => this.#options.onStartedLeading(term));
    await this.#renewUntilLost(term, signal);
    const mayRelease = term.isLeader;
    term.end(signal.aborted ? 'stopping' : 'the lease is lost');
    this.#logger.info({ reason: String(term.signal.reason) }, 'stopped leading');
    this.#call(() => this.#options.onStoppedLeading());
    if (mayRelease) {
      await this.#attempted(() => this.#release());
    }
  }

  async #renewUntilLost(term: Term, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, term.signal]);
    let next = this.#clock.monotonic() + this.#retryPeriodMs;
    for (;;) {
      await this.#clock.sleep(next - this.#clock.monotonic(), either);
      if (signal.aborted || !term.isLeader) {
        return;
      }
      const startedAt = this.#clock.monotonic();
      next = startedAt + this.#retryPeriodMs;
      if (await this.#attempted(() => this.#renew(term, either))) {
        term.renewed(startedAt);
      }
    }
  }

  /** One renewal. If another client wrote or deleted the Lease, it is read and, unless taken, renewed again. */
  async #renew(term: Term, signal: AbortSignal): Promise<boolean> {
    const guard = (): void => {
      if (!term.isLeader) {
        throw new NotLeaderError();
      }
    };
    try {
      return await this.#take(this.#lease, { signal, guard });
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) {
        throw error;
      }
    }
    const lease = await this.#read(signal);
    if (lease !== undefined && lease.spec?.holderIdentity !== this.#options.identity) {
      term.end(`the lease is held by ${holderOf(lease)}`);
      return false;
    }
    return this.#take(lease, { signal, guard });
  }

  async #tryToTake(signal: AbortSignal): Promise<boolean> {
    const lease = await this.#read(signal);
    const isOthers = holderOf(lease) !== '' && holderOf(lease) !== this.#options.identity;
    if (isOthers && this.#expiresAt > this.#clock.monotonic()) {
      this.#logger.debug({ holder: holderOf(lease) }, 'lease is held');
      return false;
    }
    this.#isUnsure = true;
    await this.#take(lease, { signal });
    this.#isUnsure = false;
    return true;
  }

  async #take(before: Lease | undefined, options: { signal: AbortSignal; guard?: () => void }): Promise<boolean> {
    const candidate = { identity: this.#options.identity, leaseDurationMs: this.#leaseDurationMs };
    this.#observe(await this.#store.write(before, takenSpec(before?.spec, candidate, this.#clock.now()), options));
    return true;
  }

  async #release(): Promise<boolean> {
    const giveUp = new AbortController();
    const timer = this.#clock.setTimeout(() => giveUp.abort(new Error('no answer in time')), RELEASE_TIMEOUT_MS);
    try {
      await (this.#isUnsure ? this.#releaseIfOurs(giveUp.signal) : this.#releaseOurs(giveUp.signal));
    } finally {
      timer.cancel();
    }
    return true;
  }

  /** A cancelled renewal may still have reached the server: the Lease is then read and released again. */
  async #releaseOurs(signal: AbortSignal): Promise<void> {
    await this.#writeReleased({ signal }).catch(async (error: unknown) => {
      if (!isConflict(error) || !(await this.#releaseIfOurs(signal))) throw error;
    });
  }

  async #releaseIfOurs(signal: AbortSignal): Promise<boolean> {
    if (holderOf(await this.#read(signal)) !== this.#options.identity) return false;
    await this.#writeReleased({ signal });
    return true;
  }

  async #writeReleased(options: { signal: AbortSignal }): Promise<void> {
    await this.#store.write(this.#lease, releasedSpec(this.#lease?.spec, this.#clock.now()), options);
    this.#logger.info('released the Lease');
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const lease = await this.#store.read(signal);
    this.#lease = lease;
    if (lease !== undefined) {
      this.#observe(lease);
    }
    return lease;
  }

  #observe(lease: Lease): void {
    this.#lease = lease;
    this.#noteSpec(lease);
  }

  #noteSpec({ spec = {} }: Lease): void {
    const text = JSON.stringify(spec);
    if (text !== this.#observed.spec) {
      const durationMs = (spec.leaseDurationSeconds ?? this.#leaseDurationMs / 1000) * 1000;
      this.#observed = { spec: text, at: this.#clock.monotonic(), durationMs };
    }
  }

  /** Handles a watch event of the Lease. The event may be stale, so it only triggers a read. */
  #saw(type: 'add' | 'update' | 'delete', lease: Lease): void {
    if (this.#term?.isLeader) {
      return;
    }
    this.#noteSpec(lease);
    if (type === 'delete' || holderOf(lease) === '') {
      this.#wake.abort();
    }
  }

  /**
   * Until the next attempt to take the Lease: when it expires, or when nothing was heard of it for a polling interval. A
   * working watch tells each renewal, so that a standby with one sends hardly any request.
   */
  async #pause(woken: AbortSignal): Promise<void> {
    const from = this.#clock.monotonic();
    const pollMs = this.#retryPeriodMs * (1 + JITTER_FACTOR * Math.random());
    const restMs = (): number => {
      const poll = Math.max(from, this.#observed.at) + pollMs;
      return (this.#expiresAt > from ? Math.min(poll, this.#expiresAt) : poll) - this.#clock.monotonic();
    };
    for (let rest = restMs(); rest > 0 && !woken.aborted; rest = restMs()) await this.#clock.sleep(rest, woken);
  }

  /** When the observed Lease expires, by the clock of this process: monotonic milliseconds. */
  get #expiresAt(): number {
    return this.#observed.at + this.#observed.durationMs;
  }

  async #attempted(attempt: () => Promise<boolean>, vacancy?: Vacancy): Promise<boolean> {
    try {
      const succeeded = await attempt();
      vacancy?.attempted(undefined);
      return succeeded;
    } catch (error) {
      vacancy?.attempted(error);
      const level = isConflict(error) || error instanceof NotLeaderError ? 'debug' : 'warn';
      this.#logger[level]({ err: error }, 'lease not written');
      return false;
    }
  }

  #call(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#logger.error({ err: error }, 'callback failed');
    }
  }
}

function holderOf(lease: Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? '';
}
