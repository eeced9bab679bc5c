import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { LabelRef, LabelChange } from '../model/label.ts';
import type { LabelWrite, NodeView } from './observation.ts';

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
