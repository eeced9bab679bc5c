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
 * Patches under way at once: less than the calls that the transport lets out, so that a Deployment, a status or an event
 * waits behind none of ten thousand labels.
 */
const PATCHES_AT_ONCE = 12;

/** One call of `write`: what becomes of its nodes. */
class Asker {
  /** Undefined for one that waits however long it takes. */
  readonly signal: AbortSignal | undefined;
  readonly #failures = new Map<string, unknown>();
  readonly #told = Promise.withResolvers<ReadonlyMap<string, unknown>>();
  readonly #of: number;
  #untold: number;

  /** @param nodes so many it will be told of */
  constructor(nodes: number, signal: AbortSignal | undefined) {
    this.#of = nodes;
    this.#untold = nodes;
    this.signal = signal;
    this.#settleWhenTold();
  }

  /** The errors by node name, when it was told of all nodes. */
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

/** There may be one for each node of a large cluster: it holds little, and nobody waits for a single one. */
interface Pending {
  readonly node: string;
  change: LabelChange;
  readonly askers: Asker[];
}

/** Merges changes, and gives one answer for the same two of them: most nodes change alike. */
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

/** A patch under way. */
interface Writing {
  readonly askers: readonly Asker[];
  readonly calledOff: AbortController;
  readonly ended: PromiseWithResolvers<undefined>;
}

/** Ends a patch that carries the labels of several when none of them waits any more. */
function callOffUnwanted({ askers, calledOff }: Writing): void {
  if (askers.every(({ signal }) => signal?.aborted)) calledOff.abort(askers[0]?.signal?.reason);
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
  readonly #nodes: Pick<Overlay<CachedNode>, 'wrote'> | undefined;
  readonly #labels: LabelWrites | undefined;
  readonly #merge = createMerge();
  readonly #askers = new WeakMap<LabelChanges, Asker>();
  /** What is not under way yet, by node. */
  readonly #pending = new Map<string, Pending>();
  /** Those of them whose turn it will be: their nodes have no patch under way. What is before `#next` is over. */
  #line: Pending[] = [];
  /** Taking the first off an array of 50,000 would move all others, each time. */
  #next = 0;
  /** Patches under way, by node. */
  readonly #writing = new Map<string, Writing>();

  /**
   * @param options.client gated on leadership
   * @param options.nodes where to keep what the API server answers, for who reads Nodes
   * @param options.labels where to note what was written, for who goes on writing
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
   * Resolves when every change was tried, with the errors by node name; a Node that is gone is none.
   * @param signal calls off the patches that nobody else waits for
   */
  write(changes: LabelChanges, signal?: AbortSignal): Promise<ReadonlyMap<string, unknown>> {
    const asker = new Asker(changes.size, signal);
    this.#askers.set(changes, asker);
    for (const [node, change] of changes) this.#enqueue(node, change, asker);
    // Not at once: the other TrafficWatches of this turn of the event loop have their say first.
    setImmediate(() => this.#fillPlaces());
    // One listener for all nodes: each that is added is compared with all that are there.
    const callOff = (): void => this.#callOffUnwanted();
    signal?.addEventListener('abort', callOff);
    return asker.failures.finally(() => signal?.removeEventListener('abort', callOff));
  }

  /** How far the changes are that `write` was called with; undefined before that. */
  progressOf(changes: LabelChanges): Progress | undefined {
    return this.#askers.get(changes)?.progress;
  }

  /** Resolves when the answer to the patch of a Node that is under way was taken in; undefined when there is none. */
  underWay(node: string): Promise<undefined> | undefined {
    return this.#writing.get(node)?.ended.promise;
  }

  /** These labels have stood for long enough. */
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
