import type { CachedNode } from '../../nodes/cachedNode.ts';
import type { Client } from '../../runtime/client.ts';
import { ApiError, isNotFound, TransportError } from '../../runtime/errors.ts';
import { NODES } from '../../runtime/resources.ts';
import type { KubeObject } from '../../runtime/resource.ts';
import { InFlight } from '../../runtime/transport/inFlight.ts';
import type { WrittenObjects } from '../../runtime/writtenObjects.ts';
import type { LabelRef } from './decide/labelFights.ts';
import type { LabelChange, LabelChanges } from './decide/nodeLabels.ts';
import type { LabelWrites } from './labelWrites.ts';

/**
 * Patches under way at once: less than the calls that the transport lets out, so that a Deployment, a status or an event
 * waits behind none of ten thousand labels.
 */
const PATCHES_AT_ONCE = 12;

/** Undefined for one that waits however long it takes. */
type Asker = AbortSignal | undefined;

interface Pending {
  change: LabelChange;
  readonly askers: Asker[];
  readonly settled: PromiseWithResolvers<undefined>;
}

/** Aborted when every one of the askers is: a patch that carries the labels of several ends when none waits any more. */
function whenAllAborted(askers: readonly Asker[]): AbortSignal {
  const all = new AbortController();
  let waiting = askers.length;
  const leave = (asker: AbortSignal) => (): void => {
    waiting -= 1;
    if (waiting === 0) all.abort(asker.reason);
  };
  for (const asker of askers) {
    if (asker?.aborted) leave(asker)();
    else asker?.addEventListener('abort', leave(asker), { once: true });
  }
  return all.signal;
}

/** True when the server, not the Node, is the reason: whoever is next in line would fare the same. */
function isOutage(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure !== 'aborted';
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/**
 * Writes node labels. Changes of several TrafficWatches to one Node that come up together leave in one merge patch of
 * just their keys; a Node has at most one patch under way, and what comes up meanwhile waits for the next one.
 *
 * The time that a call may take begins when it is a Node's turn, however many are before it. When the API server answers
 * one of them no more, those that wait are given up with the same error: the next pass decides anew.
 */
export class NodeLabelWriter {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #trim: (node: KubeObject) => CachedNode;
  readonly #written: WrittenObjects<CachedNode>;
  readonly #labels: LabelWrites | undefined;
  readonly #pending = new Map<string, Pending>();
  readonly #writing = new Set<string>();
  readonly #places = new InFlight(PATCHES_AT_ONCE);

  /**
   * @param options.client gated on leadership
   * @param options.labels where to note what was written, for who goes on writing
   */
  constructor(options: {
    client: Client;
    fieldManager: string;
    trim: (node: KubeObject) => CachedNode;
    written: WrittenObjects<CachedNode>;
    labels?: LabelWrites;
  }) {
    this.#client = options.client;
    this.#fieldManager = options.fieldManager;
    this.#trim = options.trim;
    this.#written = options.written;
    this.#labels = options.labels;
  }

  /**
   * Resolves when every change was tried, with the errors by node name; a Node that is gone is none.
   * @param signal calls off the patches that nobody else waits for
   */
  async write(changes: LabelChanges, signal?: AbortSignal): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>();
    const writes = [...changes].map(async ([node, change]) => {
      try {
        await this.#enqueue(node, change, signal);
      } catch (error) {
        failures.set(node, error);
      }
    });
    await Promise.all(writes);
    return failures;
  }

  /** These labels have stood for long enough. */
  forget(refs: readonly LabelRef[]): void {
    this.#labels?.forget(refs);
  }

  #enqueue(node: string, change: LabelChange, asker: Asker): Promise<undefined> {
    const pending = this.#pending.get(node);
    if (pending) {
      pending.change = { ...pending.change, ...change };
      pending.askers.push(asker);
      return pending.settled.promise;
    }
    const settled = Promise.withResolvers<undefined>();
    this.#pending.set(node, { change, askers: [asker], settled });
    // Not at once: the other TrafficWatches of this turn of the event loop have their say first.
    if (!this.#writing.has(node)) setImmediate(() => void this.#flush(node));
    return settled.promise;
  }

  /** Writes what is pending for a Node, until nothing is. */
  async #flush(node: string): Promise<void> {
    this.#writing.add(node);
    while (this.#pending.has(node)) {
      // It comes, sooner or later: each patch has its deadline.
      const release = await this.#places.acquire();
      await this.#writePending(node);
      release();
    }
    this.#writing.delete(node);
  }

  async #writePending(node: string): Promise<void> {
    const pending = this.#pending.get(node);
    if (!pending) return;
    this.#pending.delete(node);
    try {
      await this.#patch(node, pending.change, whenAllAborted(pending.askers));
      pending.settled.resolve(undefined);
    } catch (error) {
      pending.settled.reject(error);
      if (isOutage(error)) this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    for (const { settled } of this.#pending.values()) settled.reject(error);
    this.#pending.clear();
  }

  async #patch(node: string, labels: LabelChange, signal: AbortSignal): Promise<void> {
    try {
      const patch = { metadata: { labels } };
      const options = { fieldManager: this.#fieldManager, signal };
      const answer = await this.#client.mergePatch(NODES, { name: node }, patch, options);
      this.#labels?.wrote(node, labels);
      this.#written.wrote(this.#trim(answer));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
