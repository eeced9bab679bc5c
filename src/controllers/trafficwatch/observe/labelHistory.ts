import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { LabelRef, LabelChange } from '../model/label.ts';
import type { LabelWrite, NodeView } from './observation.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';

type Times = Readonly<Record<string, number>>;

/**
 * When the labels of the operator changed, for `minHold`. The managedFields of a Node have one time for all labels of the
 * operator: the time of the last change. It outlasts the process, and is the time of the only label in most clusters. If
 * several TrafficWatches label a node, one of the labels may be older. This class remembers the earlier time: otherwise a
 * label that changes often would hold the others for ever.
 *
 * A new process takes the time of the last change for all labels of a node. It holds a label too long rather than too
 * short, by minHold after its start at most.
 */
export class LabelTimes {
  readonly #isNeeded: () => boolean;
  #times = new Map<string, Times>();
  /** True if a reader has the map: it is copied before the next change. */
  #isShared = false;

  /** @param isNeeded whether any TrafficWatch has minHold */
  constructor(isNeeded: () => boolean) {
    this.#isNeeded = isNeeded;
  }

  /** Node name -> label key -> time, for labels that are older than `writtenAt` of the node. Never changed in place. */
  get times(): ReadonlyMap<string, Times> {
    this.#isShared = true;
    return this.#times;
  }

  /** Call with each event of a Node. */
  saw(event: InformerEvent<CachedNode>): void {
    if (!this.#isNeeded()) {
      if (this.#times.size > 0) this.#times = new Map();
      return;
    }
    const name = keyOf(event.object);
    if (event.type === 'delete') this.#keep(name, undefined);
    else if (event.type === 'update' && event.old) this.#keep(name, olderTimes(event.old, event.object, this.#times));
  }

  #keep(name: string, times: Times | undefined): void {
    if (this.#times.get(name) === times) return;
    // Not for each event: ten thousand nodes may change between two reads.
    if (this.#isShared) this.#times = new Map(this.#times);
    this.#isShared = false;
    if (times === undefined) this.#times.delete(name);
    else this.#times.set(name, times);
  }
}

/**
 * The times of the labels that are older than the last change of the node.
 *
 * | label between two states of the Node | its time                        |
 * |--------------------------------------|---------------------------------|
 * | another value, or new                | `writtenAt` of the newer state: not listed |
 * | the same, and listed                 | as listed                       |
 * | the same, not listed                 | `writtenAt` of the older state; with the same `writtenAt` in both: not listed |
 *
 * `writtenAt` has whole seconds: it may be the same though a label changed.
 */
function olderTimes(old: CachedNode, now: CachedNode, known: ReadonlyMap<string, Times>): Times | undefined {
  const before = known.get(now.name);
  const since = old.writtenAt;
  const isSame = (key: string): boolean => old.labels[key] === now.labels[key];
  if (since === undefined || since === now.writtenAt) return timesOf(before, isSame);
  const same = Object.keys(now.labels).filter(isSame);
  return same.length === 0 ? undefined : Object.fromEntries(same.map((key) => [key, before?.[key] ?? since]));
}

/** The same object if all keys match: most events change no label. */
function timesOf(times: Times | undefined, matches: (key: string) => boolean): Times | undefined {
  const entries = Object.entries(times ?? {});
  const kept = entries.filter(([key]) => matches(key));
  if (kept.length === entries.length) return times;
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

type Writes = Readonly<Record<string, LabelWrite>>;

const NONE: Writes = Object.freeze({});

/** A transition between two states of write records. */
interface Step {
  readonly before: Writes;
  readonly what: string;
  readonly after: Writes;
}

/**
 * Records the recent label writes of this process, to detect labels that another client keeps changing back. The
 * records are lost with the process: the next leader counts from 0 and detects a contention after the same number of
 * rewrites.
 */
export class LabelWrites {
  readonly #byNode = new Map<string, Writes>();
  readonly #pass: () => number;
  /**
   * The last transition, so that consecutive nodes with the same transition share one object: fifty TrafficWatches on
   * ten thousand nodes are half a million records. Only the last one is kept, because a map of all transitions would
   * grow with every rewrite of a contention.
   */
  #last: Step | undefined;
  #views: { readonly nodes: readonly CachedNode[]; readonly views: readonly NodeView[] } | undefined;

  /** @param pass returns the number of the newest pass; the time between writes is counted in passes */
  constructor(pass: () => number) {
    this.#pass = pass;
  }

  /**
   * The nodes, each with its recent writes. Returns the same array for the same list until a record changes, so that
   * TrafficWatches share the figures that are computed for it.
   */
  viewsOf(nodes: readonly CachedNode[]): readonly NodeView[] {
    if (this.#byNode.size === 0) return nodes;
    if (this.#views?.nodes !== nodes) this.#views = { nodes, views: nodes.map((node) => this.#viewOf(node)) };
    return this.#views.views;
  }

  /** The records of a Node by label key; undefined if there are none. */
  of(node: string): Writes | undefined {
    return this.#byNode.get(node);
  }

  /** Records a change that the API server accepted. */
  wrote(node: string, change: LabelChange): void {
    const pass = this.#pass();
    this.#step(node, `${pass} ${JSON.stringify(change)}`, (before) => {
      const changed = Object.entries(change).flatMap(([key, value]) =>
        value === null ? [] : [[key, nextWrite(before[key], value, pass)] as const],
      );
      return { ...without(before, Object.keys(change)), ...Object.fromEntries(changed) };
    });
  }

  /** Records which field manager changed our label. Call for every event of a Node. */
  saw(node: CachedNode): void {
    for (const [key, rival] of Object.entries(node.otherOwners ?? {})) {
      const writes = this.#byNode.get(keyOf(node));
      const last = writes?.[key];
      if (last && node.labels[key] !== last.value && last.rival !== rival) {
        this.#keep(keyOf(node), { ...writes, [key]: { ...last, rival } });
      }
    }
  }

  /** Drops the records of these labels. */
  forget(refs: readonly LabelRef[]): void {
    for (const { node, key } of refs) this.#step(node, key, (before) => without(before, [key]));
  }

  /** Call when the Node is deleted. */
  deleted(node: CachedNode): void {
    this.#keep(keyOf(node), NONE);
  }

  #viewOf(node: CachedNode): NodeView {
    const writes = this.#byNode.get(node.name);
    if (writes === undefined) return node;
    const { name, labels, createdAt, otherLabels, hostname, ownedKeys, otherOwners, writtenAt } = node;
    return { name, labels, createdAt, otherLabels, hostname, ownedKeys, otherOwners, writtenAt, writes };
  }

  /** @param what identifies the transition among those from the same state */
  #step(node: string, what: string, next: (before: Writes) => Writes): void {
    const before = this.#byNode.get(node) ?? NONE;
    if (this.#last?.before !== before || this.#last.what !== what) this.#last = { before, what, after: next(before) };
    this.#keep(node, this.#last.after);
  }

  #keep(node: string, writes: Writes): void {
    this.#views = undefined;
    if (Object.keys(writes).length > 0) this.#byNode.set(node, writes);
    else this.#byNode.delete(node);
  }
}

function nextWrite(last: LabelWrite | undefined, value: string, pass: number): LabelWrite {
  return last?.value === value ? { ...last, rewrites: last.rewrites + 1, pass } : { value, rewrites: 0, pass };
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}
