import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, isNotFound, TransportError } from '../../../runtime/client/errors.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { LabelRef } from '../decide/labels/labelContention.ts';
import type { LabelChange, LabelChanges } from '../decide/labels/nodeLabels.ts';
import type { Progress } from '../decide/report/progress.ts';
import type { LabelWrites } from './labelWrites.ts';

/**
 * Maximum number of parallel patches. Less than the parallel calls of the transport, so that the writes of a
 * Deployment, a status or an event do not queue behind ten thousand labels.
 */
const PATCHES_AT_ONCE = 12;

/** The state of one call of `write`. */
class WriteCall {
  /** Undefined if the caller never cancels. */
  readonly signal: AbortSignal | undefined;
  readonly #failures = new Map<string, unknown>();
  readonly #result = Promise.withResolvers<ReadonlyMap<string, unknown>>();
  readonly #total: number;
  #remaining: number;

  /** @param nodes the number of nodes in the call */
  constructor(nodes: number, signal: AbortSignal | undefined) {
    this.#total = nodes;
    this.#remaining = nodes;
    this.signal = signal;
    this.#resolveWhenDone();
  }

  /** Resolves with the errors by node name when all nodes were tried. */
  get failures(): Promise<ReadonlyMap<string, unknown>> {
    return this.#result.promise;
  }

  get progress(): Progress {
    return { done: this.#total - this.#remaining, of: this.#total };
  }

  nodeDone(): void {
    this.#remaining -= 1;
    this.#resolveWhenDone();
  }

  nodeFailed(node: string, error: unknown): void {
    this.#failures.set(node, error);
    this.nodeDone();
  }

  #resolveWhenDone(): void {
    if (this.#remaining === 0) this.#result.resolve(this.#failures);
  }
}

/** A change that waits for its patch. Kept small, because there may be one for each node of a large cluster. */
interface Pending {
  readonly node: string;
  change: LabelChange;
  readonly calls: WriteCall[];
}

/** Creates a function that merges two changes. Memoized, because most nodes have the same changes. */
function createMerge(): (one: LabelChange, other: LabelChange) => LabelChange {
  const merged = new WeakMap<LabelChange, WeakMap<LabelChange, LabelChange>>();
  return (one, other) => {
    const known = merged.get(one)?.get(other);
    if (known !== undefined) return known;
    const both = { ...one, ...other };
    merged.set(one, (merged.get(one) ?? new WeakMap<LabelChange, LabelChange>()).set(other, both));
    return both;
  };
}

/** A running patch. */
interface Writing {
  readonly calls: readonly WriteCall[];
  readonly canceller: AbortController;
  readonly ended: PromiseWithResolvers<undefined>;
}

/** Cancels a patch if all its callers have cancelled. */
function cancelUnwanted({ calls, canceller }: Writing): void {
  if (calls.every(({ signal }) => signal?.aborted)) canceller.abort(calls[0]?.signal?.reason);
}

/** True if the API server is the cause of the error, not the Node: the next patches would fail the same way. */
function isOutage(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure !== 'aborted';
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/**
 * Writes node labels. Changes of several TrafficWatches to one Node are combined into one merge patch of only their
 * keys. A Node has at most one running patch; later changes wait for the next patch.
 *
 * The deadline of a patch begins when the patch is sent, not when it is queued. If the API server fails during a patch,
 * all waiting changes fail with the same error, and the next pass decides again.
 */
export class NodeLabelWriter {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #trim: (node: KubeObject) => CachedNode;
  readonly #nodes: Pick<Overlay<CachedNode>, 'wrote'> | undefined;
  readonly #labels: LabelWrites | undefined;
  readonly #merge = createMerge();
  readonly #calls = new WeakMap<LabelChanges, WriteCall>();
  /** Changes that wait for their patch, by node. */
  readonly #pending = new Map<string, Pending>();
  /** The queue: waiting changes of nodes without a running patch. Entries before `#next` are done. */
  #queue: Pending[] = [];
  /** An index instead of Array.shift(), which would move up to 50,000 entries each time. */
  #next = 0;
  /** Running patches, by node. */
  readonly #writing = new Map<string, Writing>();

  /**
   * @param options.client refuses writes in a standby
   * @param options.nodes receives the responses of the API server, so that readers see them before the cache does
   * @param options.labels records the writes, for the detection of contention
   */
  constructor(options: {
    client: Client;
    fieldManager: string;
    trim: (node: KubeObject) => CachedNode;
    nodes?: Pick<Overlay<CachedNode>, 'wrote'>;
    labels?: LabelWrites;
  }) {
    this.#client = options.client;
    this.#fieldManager = options.fieldManager;
    this.#trim = options.trim;
    this.#nodes = options.nodes;
    this.#labels = options.labels;
  }

  /**
   * Writes the changes. Resolves with the errors by node name when every change was tried. A deleted Node is no error.
   * @param signal cancels the patches that no other caller waits for
   */
  write(changes: LabelChanges, signal?: AbortSignal): Promise<ReadonlyMap<string, unknown>> {
    const call = new WriteCall(changes.size, signal);
    this.#calls.set(changes, call);
    for (const [node, change] of changes) this.#enqueue(node, change, call);
    // Deferred, so that other TrafficWatches can add their changes in this turn of the event loop.
    setImmediate(() => this.#startPatches());
    // One listener for all nodes: addEventListener compares each new listener with all present ones.
    const cancel = (): void => this.#cancelUnwanted();
    signal?.addEventListener('abort', cancel);
    return call.failures.finally(() => signal?.removeEventListener('abort', cancel));
  }

  /** The progress of the call of `write` with these changes; undefined before that call. */
  progressOf(changes: LabelChanges): Progress | undefined {
    return this.#calls.get(changes)?.progress;
  }

  /** Resolves when the response to the running patch of a Node is stored; undefined if no patch is running. */
  underWay(node: string): Promise<undefined> | undefined {
    return this.#writing.get(node)?.ended.promise;
  }

  /** Drops the write records of labels that nobody has changed for long enough. */
  forget(refs: readonly LabelRef[]): void {
    this.#labels?.forget(refs);
  }

  #enqueue(node: string, change: LabelChange, call: WriteCall): void {
    const pending = this.#pending.get(node);
    if (pending) {
      pending.change = this.#merge(pending.change, change);
      pending.calls.push(call);
      return;
    }
    const added = { node, change, calls: [call] };
    this.#pending.set(node, added);
    if (!this.#writing.has(node)) this.#queue.push(added);
  }

  #startPatches(): void {
    while (this.#writing.size < PATCHES_AT_ONCE) {
      const next = this.#queue[this.#next++];
      if (next === undefined) {
        this.#clearQueue();
        return;
      }
      void this.#writePending(next);
    }
  }

  #clearQueue(): void {
    this.#queue = [];
    this.#next = 0;
  }

  #cancelUnwanted(): void {
    for (const writing of this.#writing.values()) cancelUnwanted(writing);
  }

  async #writePending({ node, change, calls }: Pending): Promise<void> {
    const writing = { calls, canceller: new AbortController(), ended: Promise.withResolvers<undefined>() };
    this.#pending.delete(node);
    this.#writing.set(node, writing);
    cancelUnwanted(writing);
    try {
      await this.#patch(node, change, writing.canceller.signal);
      for (const call of calls) call.nodeDone();
    } catch (error) {
      for (const call of calls) call.nodeFailed(node, error);
      if (isOutage(error)) this.#failPending(error);
    }
    this.#writing.delete(node);
    writing.ended.resolve(undefined);
    const meanwhile = this.#pending.get(node);
    if (meanwhile !== undefined) this.#queue.push(meanwhile);
    this.#startPatches();
  }

  #failPending(error: unknown): void {
    for (const { node, calls } of this.#pending.values()) {
      for (const call of calls) call.nodeFailed(node, error);
    }
    this.#pending.clear();
    this.#clearQueue();
  }

  async #patch(node: string, labels: LabelChange, signal: AbortSignal): Promise<void> {
    try {
      const patch = { metadata: { labels } };
      const options = { fieldManager: this.#fieldManager, metadataOnly: true, signal };
      const answer = await this.#client.mergePatch(NODES, { name: node }, patch, options);
      this.#labels?.wrote(node, labels);
      this.#nodes?.wrote(this.#trim(answer));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
