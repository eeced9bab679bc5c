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
class Asker {
  /** Undefined if the caller never cancels. */
  readonly signal: AbortSignal | undefined;
  readonly #failures = new Map<string, unknown>();
  readonly #told = Promise.withResolvers<ReadonlyMap<string, unknown>>();
  readonly #of: number;
  #untold: number;

  /** @param nodes the number of nodes in the call */
  constructor(nodes: number, signal: AbortSignal | undefined) {
    this.#of = nodes;
    this.#untold = nodes;
    this.signal = signal;
    this.#settleWhenTold();
  }

  /** Resolves with the errors by node name when all nodes were tried. */
  get failures(): Promise<ReadonlyMap<string, unknown>> {
    return this.#told.promise;
  }

  get progress(): Progress {
    return { done: this.#of - this.#untold, of: this.#of };
  }

  tellWritten(): void {
    this.#untold -= 1;
    this.#settleWhenTold();
  }

  tellFailed(node: string, error: unknown): void {
    this.#failures.set(node, error);
    this.tellWritten();
  }

  #settleWhenTold(): void {
    if (this.#untold === 0) this.#told.resolve(this.#failures);
  }
}

/** A change that waits for its patch. Kept small, because there may be one for each node of a large cluster. */
interface Pending {
  readonly node: string;
  change: LabelChange;
  readonly askers: Asker[];
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
  readonly askers: readonly Asker[];
  readonly calledOff: AbortController;
  readonly ended: PromiseWithResolvers<undefined>;
}

/** Cancels a patch if all its callers have cancelled. */
function callOffUnwanted({ askers, calledOff }: Writing): void {
  if (askers.every(({ signal }) => signal?.aborted)) calledOff.abort(askers[0]?.signal?.reason);
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
  readonly #askers = new WeakMap<LabelChanges, Asker>();
  /** Changes that wait for their patch, by node. */
  readonly #pending = new Map<string, Pending>();
  /** The queue: waiting changes of nodes without a running patch. Entries before `#next` are done. */
  #line: Pending[] = [];
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
    const asker = new Asker(changes.size, signal);
    this.#askers.set(changes, asker);
    for (const [node, change] of changes) this.#enqueue(node, change, asker);
    // Deferred, so that other TrafficWatches can add their changes in this turn of the event loop.
    setImmediate(() => this.#fillPlaces());
    // One listener for all nodes: addEventListener compares each new listener with all present ones.
    const callOff = (): void => this.#callOffUnwanted();
    signal?.addEventListener('abort', callOff);
    return asker.failures.finally(() => signal?.removeEventListener('abort', callOff));
  }

  /** The progress of the call of `write` with these changes; undefined before that call. */
  progressOf(changes: LabelChanges): Progress | undefined {
    return this.#askers.get(changes)?.progress;
  }

  /** Resolves when the response to the running patch of a Node is stored; undefined if no patch is running. */
  underWay(node: string): Promise<undefined> | undefined {
    return this.#writing.get(node)?.ended.promise;
  }

  /** Drops the write records of labels that nobody has changed for long enough. */
  forget(refs: readonly LabelRef[]): void {
    this.#labels?.forget(refs);
  }

  #enqueue(node: string, change: LabelChange, asker: Asker): void {
    const pending = this.#pending.get(node);
    if (pending) {
      pending.change = this.#merge(pending.change, change);
      pending.askers.push(asker);
      return;
    }
    const added = { node, change, askers: [asker] };
    this.#pending.set(node, added);
    if (!this.#writing.has(node)) this.#line.push(added);
  }

  #fillPlaces(): void {
    while (this.#writing.size < PATCHES_AT_ONCE) {
      const next = this.#line[this.#next++];
      if (next === undefined) {
        this.#endLine();
        return;
      }
      void this.#writePending(next);
    }
  }

  #endLine(): void {
    this.#line = [];
    this.#next = 0;
  }

  #callOffUnwanted(): void {
    for (const writing of this.#writing.values()) callOffUnwanted(writing);
  }

  async #writePending({ node, change, askers }: Pending): Promise<void> {
    const writing = { askers, calledOff: new AbortController(), ended: Promise.withResolvers<undefined>() };
    this.#pending.delete(node);
    this.#writing.set(node, writing);
    callOffUnwanted(writing);
    try {
      await this.#patch(node, change, writing.calledOff.signal);
      for (const asker of askers) asker.tellWritten();
    } catch (error) {
      for (const asker of askers) asker.tellFailed(node, error);
      if (isOutage(error)) this.#giveUp(error);
    }
    this.#writing.delete(node);
    writing.ended.resolve(undefined);
    const meanwhile = this.#pending.get(node);
    if (meanwhile !== undefined) this.#line.push(meanwhile);
    this.#fillPlaces();
  }

  #giveUp(error: unknown): void {
    for (const { node, askers } of this.#pending.values()) {
      for (const asker of askers) asker.tellFailed(node, error);
    }
    this.#pending.clear();
    this.#endLine();
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
