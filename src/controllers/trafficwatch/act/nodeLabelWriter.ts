import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, isForbidden, isInvalid, isNotFound, TransportError } from '../../../runtime/client/errors.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { FairQueue, TokenBuckets, type Allowance } from '../../../runtime/async/limit.ts';
import { systemClock, type Clock } from '../../../runtime/process/clock.ts';
import type { LabelRef, LabelChange, LabelChanges } from '../model/label.ts';
import type { Progress } from '../decide/report/status.ts';
import type { LabelWrites } from '../observe/labelHistory.ts';
import { BehindCalls, WriteCall, type Payer } from './writeCall.ts';

/**
 * Maximum number of parallel patches. Less than the parallel calls of the transport, so that the writes of a
 * Deployment, a status or an event do not queue behind ten thousand labels.
 */
const PATCHES_AT_ONCE = 12;

/** Tokens that only urgent changes use: a namespace that labels a whole cluster can still write these at once. */
const RESERVE = 100;

/**
 * How many nodes the TrafficWatches of a namespace may label. The burst is enough to label all nodes, and to rename the label, twice.
 * After that, a user who switches a TrafficWatch on and off causes as many patches as the nodes need in 200 s.
 */
export function allowanceOf(nodes: number): Allowance {
  return { burst: Math.max(2_000, 4 * nodes), perSecond: Math.max(20, nodes / 200) };
}

/** A change that waits for its patch. Kept small, because there may be one for each node of a large cluster. */
interface Pending {
  readonly node: string;
  change: LabelChange;
  readonly calls: WriteCall[];
  /** How often it is in the queue: once for each namespace, and again if it became urgent. */
  places: number;
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
  /** Whether the last patch of the node failed. */
  readonly isRetry: boolean;
  readonly ended: PromiseWithResolvers<undefined>;
}

/** Cancels a patch if all its callers have cancelled. */
function cancelUnwanted({ calls, canceller }: Writing): void {
  if (calls.every(({ signal }) => signal?.aborted)) canceller.abort(calls[0]?.signal?.reason);
}

/** Whether the API server may be the cause of the error: then the next patches fail in the same way. */
function mayBeOutage(error: unknown): boolean {
  if (error instanceof TransportError) return error.failure !== 'aborted';
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** Whether a mutating or validating webhook did not answer. It may select some nodes only. */
function isWebhookFailure(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 500 && error.detail.includes('failed calling webhook');
}

/** So many different nodes must fail, with no success between, until the cause counts as one of all nodes. */
const OUTAGE_NODES = 3;
/** The same, if webhooks did not answer: as many as are patched at once, since the nodes of a pool often have similar names. */
const WEBHOOK_OUTAGE_NODES = PATCHES_AT_ONCE;
/** Parallel patches of nodes whose last patch failed: each may take until its deadline. */
const RETRIES_AT_ONCE = 3;
/** Most nodes whose last patch failed that are remembered: the order of any other is only less good. */
const MOST_FAILED = 10_000;

/** Remembers the nodes whose last patch got no proper answer, and detects an outage. */
class FailedNodes {
  readonly #failed = new Set<string>();
  /** The nodes that failed since the last success. */
  readonly #inARow = new Set<string>();

  /** Whether the last patch of the node failed. */
  has(node: string): boolean {
    return this.#failed.has(node);
  }

  succeeded(node: string): void {
    this.#failed.delete(node);
    this.#inARow.clear();
  }

  /** @returns true if the patches of all nodes fail: an outage of the API server, or of a webhook for all nodes */
  add(node: string, error: unknown): boolean {
    if (!mayBeOutage(error)) return false;
    this.#failed.add(node);
    const [oldest] = this.#failed;
    if (oldest !== undefined && this.#failed.size > MOST_FAILED) this.#failed.delete(oldest);
    this.#inARow.add(node);
    if (this.#inARow.size < (isWebhookFailure(error) ? WEBHOOK_OUTAGE_NODES : OUTAGE_NODES)) return false;
    this.#inARow.clear();
    return true;
  }
}

/** Most keys that are remembered: each costs one more patch of a node at most. */
const MOST_KEYS = 1_000;

/** RBAC refuses whole patches: patches of single keys would be refused in the same way. */
const MISSING_RIGHT = 'cannot patch resource';

/** Whether an admission policy or webhook refuses what a patch contains. A patch of other keys may succeed. */
export function isRefusedContent(error: unknown): error is ApiError {
  return isInvalid(error) || (isForbidden(error) && !error.detail.includes(MISSING_RIGHT));
}

/** One change for each key. */
function eachAlone(labels: LabelChange): LabelChange[] {
  return Object.entries(labels).map(([key, value]) => ({ [key]: value }));
}

/**
 * Remembers the label keys that were refused, so that they are patched alone: one refused key would fail the patch of a node with the
 * keys of all TrafficWatches.
 */
export class RefusedKeys {
  readonly #keys = new Set<string>();

  /** Splits a change: one part with all keys that were not refused, and one for each key that was. */
  partsOf(labels: LabelChange): LabelChange[] {
    const refused = Object.entries(labels).filter(([key]) => this.#keys.has(key));
    if (refused.length === 0) return [labels];
    const others = Object.entries(labels).filter(([key]) => !this.#keys.has(key));
    return [...(others.length > 0 ? [Object.fromEntries(others)] : []), ...eachAlone(Object.fromEntries(refused))];
  }

  refused(key: string): void {
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (oldest !== undefined && this.#keys.size > MOST_KEYS) this.#keys.delete(oldest);
  }

  /** Call with each patch that succeeded. */
  accepted(labels: LabelChange): void {
    if (this.#keys.size === 0) return;
    for (const key of Object.keys(labels)) this.#keys.delete(key);
  }
}

/**
 * Writes node labels. Changes of several TrafficWatches to one Node are combined into one merge patch of only their
 * keys. A Node has at most one running patch; later changes wait for the next patch. A key that an admission policy or webhook refuses
 * is patched alone, so that the others are written.
 *
 * Namespaces take turns. The patches of each are limited: see allowanceOf. A patch for several namespaces counts for the one whose turn
 * it is.
 *
 * The deadline of a patch begins when the patch is sent, not when it is queued. Nodes whose last patch failed come last. If the patches of
 * several nodes fail with no success between, because of the API server or a webhook, all waiting changes fail with the same error, and the
 * next pass decides again.
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
  /** Waiting changes of nodes without a running patch, by namespace. Also contains changes that another turn has written. */
  readonly #queue = new FairQueue<Pending>();
  /** The same of nodes whose last patch failed: they come last, and use some of the parallel patches only. */
  readonly #retries = new FairQueue<Pending>();
  readonly #failed = new FailedNodes();
  readonly #allowances: TokenBuckets;
  readonly #behind: BehindCalls;
  readonly #refused = new RefusedKeys();
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
    clock?: Pick<Clock, 'monotonic'>;
  }) {
    this.#allowances = new TokenBuckets(options.clock ?? systemClock);
    this.#behind = new BehindCalls(options.clock ?? systemClock);
    this.#client = options.client;
    this.#fieldManager = options.fieldManager;
    this.#trim = options.trim;
    this.#nodes = options.nodes;
    this.#labels = options.labels;
  }

  /**
   * Writes the changes. Resolves with the errors by node name when every change was tried, or is behind (see isBehind). A deleted Node
   * is no error.
   * @param signal cancels the patches that no other caller waits for
   * @param payer whose allowance the patches use; without it they are not limited
   */
  write(changes: LabelChanges, signal?: AbortSignal, payer?: Payer): Promise<ReadonlyMap<string, unknown>> {
    const call = new WriteCall(changes, signal, payer);
    this.#calls.set(changes, call);
    this.#behind.replace(call);
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
    const known = this.#pending.get(node);
    const pending = known ?? { node, change, calls: [], places: 0 };
    if (known === undefined) this.#pending.set(node, pending);
    else known.change = this.#merge(known.change, change);
    if (!this.#writing.has(node)) this.#addPlace(pending, call, pending.calls);
    pending.calls.push(call);
  }

  /** Lets a change wait for the turn of the call's namespace, unless an earlier call already does. */
  #addPlace(pending: Pending, call: WriteCall, earlier: readonly WriteCall[]): void {
    const { group } = call;
    const isUrgent = call.isUrgent(pending.node);
    if (earlier.some((other) => other.group === group && (!isUrgent || other.isUrgent(pending.node)))) return;
    pending.places++;
    (this.#failed.has(pending.node) ? this.#retries : this.#queue).add(group, pending, isUrgent);
  }

  #startPatches(): void {
    while (this.#writing.size < PATCHES_AT_ONCE) {
      const turn = this.#queue.take() ?? this.#takeRetry();
      if (turn === undefined) return;
      const { group, item: pending, isUrgent } = turn;
      pending.places--;
      if (this.#pending.get(pending.node) !== pending) continue;
      if (this.#isAllowed(group, pending, isUrgent)) void this.#writePending(pending);
      else if (pending.places === 0) this.#postpone(pending);
    }
  }

  #takeRetry(): ReturnType<FairQueue<Pending>['take']> {
    const retries = [...this.#writing.values()].filter(({ isRetry }) => isRetry).length;
    return retries < RETRIES_AT_ONCE ? this.#retries.take() : undefined;
  }

  /** Takes the patch of a Node from the allowance of the namespace. */
  #isAllowed(group: string, { calls }: Pending, isUrgent: boolean): boolean {
    const payer = calls.find((call) => call.group === group)?.payer;
    return payer === undefined || this.#allowances.take(group, allowanceOf(payer.nodes), isUrgent ? 0 : RESERVE);
  }

  #postpone({ node, calls }: Pending): void {
    this.#pending.delete(node);
    for (const call of calls) {
      call.nodeBehind(node);
      this.#behind.add(call);
    }
  }

  #cancelUnwanted(): void {
    for (const writing of this.#writing.values()) cancelUnwanted(writing);
  }

  async #writePending({ node, change, calls }: Pending): Promise<void> {
    const isRetry = this.#failed.has(node);
    const writing = { calls, canceller: new AbortController(), isRetry, ended: Promise.withResolvers<undefined>() };
    this.#pending.delete(node);
    this.#writing.set(node, writing);
    cancelUnwanted(writing);
    const along = this.#behind.of(node, new Set(calls.map(({ group }) => group)));
    const all = [...along.map((call) => call.behindOf(node) ?? {}), change].reduce(this.#merge);
    try {
      const refused = await this.#patchParts(node, all, writing.canceller.signal);
      this.#failed.succeeded(node);
      for (const call of along) call.notBehind(node);
      for (const call of calls) call.nodeTried(node, refused);
    } catch (error) {
      for (const call of calls) call.nodeFailed(node, error);
      if (this.#failed.add(node, error)) this.#failPending(error);
    }
    this.#writing.delete(node);
    writing.ended.resolve(undefined);
    const meanwhile = this.#pending.get(node);
    meanwhile?.calls.forEach((call, n) => this.#addPlace(meanwhile, call, meanwhile.calls.slice(0, n)));
    this.#startPatches();
  }

  #failPending(error: unknown): void {
    for (const { node, calls } of this.#pending.values()) {
      for (const call of calls) call.nodeFailed(node, error);
    }
    this.#pending.clear();
    this.#queue.clear();
    this.#retries.clear();
  }

  /** Patches a Node, and each key alone if a patch of several keys is refused. Resolves with the errors of refused keys. */
  async #patchParts(node: string, labels: LabelChange, signal: AbortSignal): Promise<ReadonlyMap<string, unknown>> {
    const errors = new Map<string, unknown>();
    const parts = this.#refused.partsOf(labels);
    // Grows in the loop: the keys of a refused part follow it.
    for (const part of parts) {
      try {
        await this.#patch(node, part, signal);
        this.#refused.accepted(part);
      } catch (error) {
        if (!isRefusedContent(error)) throw error;
        const [key, ...others] = Object.keys(part);
        if (others.length > 0) parts.push(...eachAlone(part));
        else if (key !== undefined) {
          this.#refused.refused(key);
          errors.set(key, error);
        }
      }
    }
    return errors;
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
