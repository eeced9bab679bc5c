import type { V1Lease } from '@kubernetes/client-node';
import type { WriteGate } from '../client/client.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import { isConflict, isNotFound, NotLeaderError } from '../client/errors.ts';
import type { Informer } from '../cache/informer.ts';
import { asLease, LeaseStore, releasedSpec, takenSpec, type Lease } from './lease.ts';
import { Term } from './term.ts';
import { Vacancy } from './vacancy.ts';
import type { Logger } from '../process/logger.ts';
import type { Transport } from '../client/transport.ts';

/** Being the leader, for as long as `isLeader` says so; the signal is aborted when it ends. */
export type Leadership = WriteGate;

export interface LeaderElectorOptions {
  transport: Transport;
  /** Unique for each process that ever runs: two of the same identity would both lead. */
  identity: string;
  namespace: string;
  /** Of the Lease. */
  name: string;
  /** A watch of that Lease, run by somebody else: a release is then noticed at once. Polled without. */
  leases?: Informer<V1Lease>;
  clock?: Clock;
  logger: Logger;
  /** How long a lease that is not renewed remains its holder's. */
  leaseDurationMs?: number;
  /** How long the holder goes on leading without a renewal; less than the lease's duration by a good margin. */
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
 * A standby looks every 2 to 2.4 s. client-go spreads its looks up to 4.4 s; this little lets a standby without a watch
 * notice a release within 3 s, too, and replicas are too few to need more.
 */
const JITTER_FACTOR = 0.2;

/**
 * A stop must not wait long for an API server that does not answer; others take over when the lease has run out. With
 * the 1.5 s in which controllers drain, what is left of the 4.5 s of a shutdown.
 */
const RELEASE_TIMEOUT_MS = 2_500;

/** The signal of one who does not lead. */
const ENDED = AbortSignal.abort(new NotLeaderError());

/**
 * Elects one leader among the processes that share a Lease, to client-go's semantics (tools/leaderelection): a lease
 * is another's until it was seen unchanged for its whole duration, measured by our own clock alone; writes carry the
 * resource version that was read, so that of two who try only one succeeds.
 *
 * Two things differ. A leader that cannot renew its lease does not exit: it stands by again. That is safe because
 * nothing is written but through the gate that this elector is (leaderOnly): there is no state of a leader that could
 * act on. And a standby looks again as soon as the lease it has seen runs out, not up to 4.4 s later.
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
  /** The last lease that was read or written. */
  #lease: Lease | undefined;
  /** Its spec as text, when it was first seen so (monotonic milliseconds), and how long it then lasts. */
  #observed = { spec: '', at: 0, durationMs: 0 };
  /** The lease was asked for, and no answer came: it may be ours. */
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

  /** Whether this process leads right now, by the clock. */
  get isLeader(): boolean {
    return this.#term?.isLeader ?? false;
  }

  /** Aborted when the present leadership ends; aborted already when there is none. */
  get signal(): AbortSignal {
    return this.isLeader && this.#term !== undefined ? this.#term.signal : ENDED;
  }

  /** @throws NotLeaderError unless this process leads right now */
  assertLeading(): void {
    if (!this.isLeader) {
      throw new NotLeaderError();
    }
  }

  /** Stands by and leads in turn until `signal` is aborted; then gives the lease up. Never rejects. */
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
      // Before the attempt: what the watch tells while it is under way must not be missed.
      this.#wake = new AbortController();
      const startedAt = this.#clock.monotonic();
      if (await this.#attempted(() => this.#tryToTake(signal), this.#vacancy)) {
        return new Term(this.#clock, startedAt, this.#renewDeadlineMs);
      }
      if (this.#vacancy.isCertain) this.#call(() => this.#options.onVacant?.());
      await this.#clock.sleep(this.#pauseMs(), AbortSignal.any([signal, this.#wake.signal]));
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

  /** One renewal; when somebody else wrote or deleted the lease, it is read and, unless it is another's, renewed again. */
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
    if (isOthers && this.#expiresInMs() > 0) {
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

  /** A renewal that was called off may have arrived all the same: then the lease is read and given up again. */
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
    this.#logger.info('gave the lease up');
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

  /** The watch told of the lease. It may be behind, so it only says when to look; what counts is read. */
  #saw(type: 'add' | 'update' | 'delete', lease: Lease): void {
    if (this.#term?.isLeader) {
      return;
    }
    this.#noteSpec(lease);
    if (type === 'delete' || holderOf(lease) === '') {
      this.#wake.abort();
    }
  }

  /** How long to wait with the next attempt to take the lease: until it runs out, but no longer than between polls. */
  #pauseMs(): number {
    const poll = this.#retryPeriodMs * (1 + JITTER_FACTOR * Math.random());
    const expiry = this.#expiresInMs();
    return expiry > 0 ? Math.min(poll, expiry) : poll;
  }

  /** By our own clock, since when we have seen the lease unchanged. */
  #expiresInMs(): number {
    return this.#observed.at + this.#observed.durationMs - this.#clock.monotonic();
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
