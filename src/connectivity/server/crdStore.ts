import { AGENTS, type Agent } from '../../api/agent/schema.ts';
import type { Client } from '../../runtime/client/client.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { isMarked, marked } from './auth/mark.ts';
import type { AgentState, Reports } from './reports.ts';
import { contentsOf, unwrittenReports, writeNeed, type WriteNeed, type Written } from './storeWrites.ts';

/** Time between two writes: at most 10 a second, whatever the number of agents. */
const PACE_MS = 100;
const RETRY = { firstMs: 1_000, mostMs: 30_000 };
const FIELD_MANAGER = 'traffic-operator-connectivity';
/** HTTP status of an object that its CRD does not allow. */
const INVALID = 422;

interface CrdStoreOptions {
  readonly client: Client;
  /** Of the Agent objects. */
  readonly namespace: string;
  readonly reports: Reports;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Keeps reports and counters as Agent objects, over restarts of the server. */
export class CrdStore {
  readonly #o: CrdStoreOptions;
  readonly #written = new Map<string, Written & { metadata: Agent['metadata'] }>();
  readonly #due: Readonly<Record<WriteNeed | 'deletion', Set<string>>> = {
    deletion: new Set(),
    contents: new Set(),
    times: new Set(),
  };
  #wake = Promise.withResolvers<undefined>();
  #isLoaded = false;
  #failure: string | undefined;

  constructor(options: CrdStoreOptions) {
    this.#o = options;
  }

  /** Why the reports of an earlier process are not known; undefined once they are. */
  get problem(): string | undefined {
    if (this.#isLoaded) return undefined;
    return `the stored reports are not read yet${this.#failure === undefined ? '' : `: ${this.#failure}`}`;
  }

  /** The metadata of an Agent object, as last written. */
  metadataOf(pod: string): Agent['metadata'] {
    return this.#written.get(pod)?.metadata;
  }

  /** The pods that have an Agent object. */
  pods(): Iterable<string> {
    return this.#written.keys();
  }

  /** An agent reported: writes it, if needed. */
  changed(state: AgentState): void {
    const { report } = state;
    const { clock, ttlMs } = this.#o;
    const need = writeNeed(state, this.#written.get(report.podname), clock.monotonic(), ttlMs / 2);
    if (need === undefined) return;
    this.#due.deletion.delete(report.podname);
    this.#add(need, report.podname);
  }

  /** An agent is gone: deletes its object. */
  gone(pod: string): void {
    if (this.#written.has(pod)) this.#add('deletion', pod);
  }

  /** Reads what is stored, then writes what is due, until `signal` is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.resolve(undefined), { once: true });
    await this.#untilDone(() => this.#load(signal), signal);
    while (!signal.aborted) {
      await this.#untilDone(() => this.#writeNext(signal), signal);
      await this.#o.clock.sleep(PACE_MS, signal);
    }
  }

  #add(need: WriteNeed | 'deletion', pod: string): void {
    this.#due[need].add(pod);
    this.#wake.resolve(undefined);
  }

  /** Waits until something is due, and writes it. */
  async #writeNext(signal: AbortSignal): Promise<void> {
    for (let next = this.#next(); !signal.aborted; next = this.#next()) {
      if (next !== undefined) return this.#write(...next, signal);
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<undefined>();
    }
  }

  #next(): [need: WriteNeed | 'deletion', pod: string] | undefined {
    for (const need of ['deletion', 'contents', 'times'] as const) {
      const [pod] = this.#due[need];
      if (pod !== undefined) return [need, pod];
    }
    return undefined;
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { client, namespace, reports, clock, ttlMs } = this.#o;
    for (const { metadata, spec, status } of await client.list(AGENTS, { namespace, signal })) {
      const anonymous = isMarked(metadata);
      const unwritten = unwrittenReports(spec, clock.now(), ttlMs / 2);
      reports.restore({
        report: spec,
        reportCount: (status?.reportCount ?? 0) + unwritten,
        errorCount: status?.errorCount ?? 0,
        anonymous,
      });
      // Old enough that the next report writes the counters.
      this.#written.set(spec.podname, { contents: contentsOf({ report: spec, anonymous }), at: -Infinity, metadata });
    }
    this.#isLoaded = true;
  }

  /** A report that comes during the write is due again. */
  async #write(need: WriteNeed | 'deletion', pod: string, signal: AbortSignal): Promise<void> {
    const { client, namespace, reports } = this.#o;
    for (const pods of Object.values(this.#due)) pods.delete(pod);
    try {
      const state = reports.get(pod);
      if (need === 'deletion' || state === undefined) {
        await client.delete(AGENTS, { namespace, name: pod }, { signal });
        this.#written.delete(pod);
      } else {
        await this.#apply(pod, state, signal);
      }
    } catch (error) {
      // Repeating a write that the API server refused would keep all others waiting. The next report tries again.
      if (error instanceof ApiError && error.status === INVALID) this.#failed(error, signal);
      else {
        this.#due[need].add(pod);
        throw error;
      }
    }
  }

  async #apply(pod: string, state: AgentState, signal: AbortSignal): Promise<void> {
    const { client, namespace, clock } = this.#o;
    const at = clock.monotonic();
    const agent = agentOf(state, namespace);
    const { metadata } = await client.apply(AGENTS, agent, { fieldManager: FIELD_MANAGER, force: true, signal });
    this.#written.set(pod, { contents: contentsOf(state), at, metadata });
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

function agentOf({ report, reportCount, errorCount, anonymous }: AgentState, namespace: string): Agent {
  const metadata = marked({ name: report.podname, namespace }, anonymous);
  return { metadata, spec: report, status: { reportCount, errorCount } };
}
