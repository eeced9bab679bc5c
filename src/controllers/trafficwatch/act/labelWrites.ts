import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { LabelRef } from '../decide/labels/labelContention.ts';
import type { LabelChange } from '../decide/labels/nodeLabels.ts';
import type { LabelWrite, NodeView } from '../observe/observation.ts';

type Writes = Readonly<Record<string, LabelWrite>>;

const NONE: Writes = Object.freeze({});

/** What a state became when something happened to it. */
interface Step {
  readonly before: Writes;
  readonly what: string;
  readonly after: Writes;
}

/**
 * What this process wrote on nodes lately, by which a label that somebody changes again and again is known. It is lost
 * with the process: the next leader counts anew, and is in a contention as soon as it has put the label right that often.
 */
export class LabelWrites {
  readonly #byNode = new Map<string, Writes>();
  readonly #pass: () => number;
  /**
   * A TrafficWatch that is new writes the same on one node after the other, and what is equal is one object for all:
   * fifty TrafficWatches over ten thousand nodes are half a million writes to remember. One step only: a map from each
   * state to the next would hold every state of a contention that goes on.
   */
  #last: Step | undefined;
  #views: { readonly nodes: readonly CachedNode[]; readonly views: readonly NodeView[] } | undefined;

  /** @param pass tells the number of the newest pass, by which the time between writes is counted */
  constructor(pass: () => number) {
    this.#pass = pass;
  }

  /**
   * The nodes, each with what was written on it lately. The same answer to the same list until something is written or
   * forgotten, so that what one TrafficWatch worked out for it serves the others.
   */
  viewsOf(nodes: readonly CachedNode[]): readonly NodeView[] {
    if (this.#byNode.size === 0) return nodes;
    if (this.#views?.nodes !== nodes) this.#views = { nodes, views: nodes.map((node) => this.#viewOf(node)) };
    return this.#views.views;
  }

  /** By label key; undefined when nothing was written on the Node lately. */
  of(node: string): Writes | undefined {
    return this.#byNode.get(node);
  }

  /** The API server took the change. */
  wrote(node: string, change: LabelChange): void {
    const pass = this.#pass();
    this.#step(node, `${pass} ${JSON.stringify(change)}`, (before) => {
      const changed = Object.entries(change).flatMap(([key, value]) =>
        value === null ? [] : [[key, nextWrite(before[key], value, pass)] as const],
      );
      return { ...without(before, Object.keys(change)), ...Object.fromEntries(changed) };
    });
  }

  /** Notes who changed what we wrote. To be called for every state of a Node. */
  saw(node: CachedNode): void {
    for (const [key, rival] of Object.entries(node.otherOwners ?? {})) {
      const writes = this.#byNode.get(keyOf(node));
      const last = writes?.[key];
      if (last && node.labels[key] !== last.value && last.rival !== rival) {
        this.#keep(keyOf(node), { ...writes, [key]: { ...last, rival } });
      }
    }
  }

  forget(refs: readonly LabelRef[]): void {
    for (const { node, key } of refs) this.#step(node, key, (before) => without(before, [key]));
  }

  /** The Node is gone. */
  deleted(node: CachedNode): void {
    this.#keep(keyOf(node), NONE);
  }

  #viewOf(node: CachedNode): NodeView {
    const writes = this.#byNode.get(node.name);
    return writes === undefined ? node : { name: node.name, labels: node.labels, createdAt: node.createdAt, writes };
  }

  /** @param what tells the step apart from any other from the same state */
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
