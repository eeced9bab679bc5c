import { createHash } from 'node:crypto';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { AgentState, Reports } from '../reports/reports.ts';
import { contentsOf, longestGapMs, unwrittenReports, writeNeed, type WriteNeed, type Written } from './storeWrites.ts';

/** Where reports and counters are kept over restarts of the server. */
export interface StoreBackend {
  /** The most agents in one call of `put` or `delete`. */
  readonly mostAtOnce: number;
  /** Time between two calls, ms: at most 10 writes a second are sent, whatever the number of agents. */
  readonly paceMs: number;
  /** Reads all that is stored. */
  list(signal: AbortSignal): Promise<readonly AgentState[]>;
  /** Writes the first of these states, as many as fit into one write, and returns them. */
  put(states: readonly AgentState[], signal: AbortSignal): Promise<readonly AgentState[]>;
  /** Deletes the stored data of these pods. An absent pod is not an error. */
  delete(pods: readonly string[], signal: AbortSignal): Promise<void>;
  /** True if the store was reached and does not take this write, so that repeating it is in vain. */
  isRefusal(error: unknown): boolean;
}

const RETRY = { firstMs: 1_000, mostMs: 30_000 };

interface ReportStoreOptions {
  readonly backend: StoreBackend;
  readonly reports: Reports;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes reports and counters to a store, and restores them at the start. The reports in memory are the source: after an
 * outage of the store, each agent is written again with its next report, because its last write is too old.
 */
export class ReportStore {
  readonly #o: ReportStoreOptions;
  readonly #written = new Map<string, Written>();
  readonly #due: Readonly<Record<WriteNeed | 'deletion', Set<string>>> = {
    deletion: new Set(),
    contents: new Set(),
    times: new Set(),
  };
  #mostAtOnce: number;
  #wake = Promise.withResolvers<undefined>();
  #isLoaded = false;
  #failure: string | undefined;

  constructor(options: ReportStoreOptions) {
    this.#o = options;
    this.#mostAtOnce = options.backend.mostAtOnce;
  }

  /** Why the reports of an earlier process are not known; undefined once they are. */
  get problem(): string | undefined {
    if (this.#isLoaded) return undefined;
    return `the stored reports are not read yet${this.#failure === undefined ? '' : `: ${this.#failure}`}`;
  }

  /** The pods that are stored. */
  pods(): Iterable<string> {
    return this.#written.keys();
  }

  /** Marks an agent that has reported as due, if a write is needed. */
  changed(state: AgentState): void {
    const { report } = state;
    const { clock, ttlMs } = this.#o;
    const need = writeNeed(hashOf(state), this.#written.get(report.podname), clock.monotonic(), ttlMs / 2);
    if (need === undefined) return;
    this.#due.deletion.delete(report.podname);
    this.#add(need, report.podname);
  }

  /** Deletes the stored data of an agent that no longer exists. */
  gone(pod: string): void {
    if (this.#written.has(pod)) this.#add('deletion', pod);
  }

  /** Reads what is stored, then writes what is due, until `signal` is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.resolve(undefined), { once: true });
    await this.#untilDone(() => this.#load(signal), signal);
    while (!signal.aborted) {
      await this.#untilDone(() => this.#writeNext(signal), signal);
      await this.#o.clock.sleep(this.#o.backend.paceMs, signal);
    }
  }

  #add(need: WriteNeed | 'deletion', pod: string): void {
    this.#due[need].add(pod);
    this.#wake.resolve(undefined);
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { backend, reports, clock, ttlMs } = this.#o;
    const { mostAtOnce, paceMs } = backend;
    const states = await backend.list(signal);
    const gapMs = longestGapMs(states.length, { mostAtOnce, paceMs, halfTtlMs: ttlMs / 2 });
    for (const state of states) {
      const { report, reportCount } = state;
      const unwritten = unwrittenReports(report, clock.now(), gapMs);
      reports.restore({ ...state, reportCount: reportCount + unwritten });
      // Old enough that the next report writes the counters.
      this.#written.set(report.podname, { contents: hashOf(state), at: -Infinity });
    }
    this.#isLoaded = true;
  }

  /** Waits until something is due, and writes it. */
  async #writeNext(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#due.deletion.size > 0) return this.#delete(signal);
      if (this.#due.contents.size + this.#due.times.size > 0) return this.#put(signal);
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<undefined>();
    }
  }

  async #delete(signal: AbortSignal): Promise<void> {
    const pods = [...this.#due.deletion].slice(0, this.#mostAtOnce);
    for (const pod of pods) for (const due of Object.values(this.#due)) due.delete(pod);
    try {
      await this.#o.backend.delete(pods, signal);
      for (const pod of pods) this.#written.delete(pod);
    } catch (error) {
      this.#afterFailure(error, new Map(pods.map((pod) => [pod, 'deletion'])), signal);
    }
  }

  /** Writes agents that are due. An agent that reports during the write is due again. */
  async #put(signal: AbortSignal): Promise<void> {
    const { backend, clock } = this.#o;
    const taken = this.#take();
    const at = clock.monotonic();
    try {
      const states = [...taken.keys()].flatMap((pod) => this.#o.reports.get(pod) ?? []);
      const written = states.length === 0 ? [] : await backend.put(states, signal);
      this.#mostAtOnce = Math.min(2 * this.#mostAtOnce, backend.mostAtOnce);
      for (const state of written) this.#written.set(state.report.podname, { contents: hashOf(state), at });
      for (const { report } of states.slice(written.length))
        this.#add(taken.get(report.podname) ?? 'times', report.podname);
    } catch (error) {
      this.#afterFailure(error, taken, signal);
    }
  }

  /** Takes what is due, changed contents first, and why. */
  #take(): ReadonlyMap<string, WriteNeed> {
    const taken = new Map<string, WriteNeed>();
    for (const need of ['contents', 'times'] as const) {
      for (const pod of this.#due[need]) {
        if (taken.size === this.#mostAtOnce) return taken;
        if (!taken.has(pod)) taken.set(pod, need);
        this.#due[need].delete(pod);
      }
    }
    return taken;
  }

  /**
   * Decides when failed writes are tried again:
   *
   * | failure | result |
   * |---|---|
   * | the store refuses several agents at once | due again, half as many at once, doubled with each success |
   * | the store refuses one agent | logged; repeating it would keep all others waiting, so its next report tries again |
   * | else | due again, after a pause |
   */
  #afterFailure(error: unknown, failed: ReadonlyMap<string, WriteNeed | 'deletion'>, signal: AbortSignal): void {
    const isRefused = this.#o.backend.isRefusal(error);
    if (isRefused && failed.size === 1) {
      this.#failed(error, signal);
      return;
    }
    for (const [pod, need] of failed) this.#due[need].add(pod);
    if (!isRefused) throw error;
    this.#mostAtOnce = Math.ceil(failed.size / 2);
  }

  /** Repeats what failed, with growing pauses, until it succeeds or `signal` is aborted. */
  async #untilDone(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let pauseMs = RETRY.firstMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, RETRY.mostMs)) {
      try {
        await work();
        this.#failure = undefined;
        return;
      } catch (error) {
        this.#failed(error, signal);
        await this.#o.clock.sleep(pauseMs, signal);
      }
    }
  }

  #failed(error: unknown, signal: AbortSignal): void {
    const message = error instanceof Error ? error.message : String(error);
    if (signal.aborted || message === this.#failure) return;
    this.#failure = message;
    this.#o.logger.error({ err: error }, 'the store of the reports failed');
  }
}

/** Contents of 10,000 agents may take 100 MB; their hashes take 1 MB. */
function hashOf(state: AgentState): string {
  return createHash('sha256').update(contentsOf(state)).digest('base64');
}
