import type { CachedNode } from '../../nodes/cachedNode.ts';
import { keyOf } from '../../runtime/resource.ts';
import type { LabelRef } from './decide/labelFights.ts';
import type { LabelChange } from './decide/nodeLabels.ts';
import type { LabelWrite } from './observation.ts';

/**
 * What this process wrote on nodes lately, by which a label that somebody changes again and again is known. It is lost
 * with the process: the next leader counts anew, and is in a fight as soon as it has put the label right that often.
 */
export class LabelWrites {
  readonly #byNode = new Map<string, Readonly<Record<string, LabelWrite>>>();
  readonly #pass: () => number;

  /** @param pass tells the number of the newest pass, by which the time between writes is counted */
  constructor(pass: () => number) {
    this.#pass = pass;
  }

  /** Whether nothing was written on any Node lately. */
  get isEmpty(): boolean {
    return this.#byNode.size === 0;
  }

  /** By label key; undefined when nothing was written on the Node lately. */
  of(node: string): Readonly<Record<string, LabelWrite>> | undefined {
    return this.#byNode.get(node);
  }

  /** The API server took the change. */
  wrote(node: string, change: LabelChange): void {
    const before = this.#byNode.get(node) ?? {};
    const changed = Object.entries(change).flatMap(([key, value]) =>
      value === null ? [] : [[key, this.#next(before[key], value)] as const],
    );
    this.#keep(node, { ...without(before, Object.keys(change)), ...Object.fromEntries(changed) });
  }

  /** Notes who changed what we wrote. To be called for every state of a Node. */
  saw(node: CachedNode): void {
    const writes = this.#byNode.get(keyOf(node));
    for (const [key, rival] of Object.entries(node.otherOwners ?? {})) {
      const last = writes?.[key];
      if (last && node.labels[key] !== last.value && last.rival !== rival) {
        this.#byNode.set(keyOf(node), { ...writes, [key]: { ...last, rival } });
      }
    }
  }

  forget(refs: readonly LabelRef[]): void {
    for (const { node, key } of refs) {
      this.#keep(node, without(this.#byNode.get(node) ?? {}, [key]));
    }
  }

  /** The Node is gone. */
  deleted(node: CachedNode): void {
    this.#byNode.delete(keyOf(node));
  }

  #next(last: LabelWrite | undefined, value: string): LabelWrite {
    const pass = this.#pass();
    return last?.value === value ? { ...last, rewrites: last.rewrites + 1, pass } : { value, rewrites: 0, pass };
  }

  #keep(node: string, writes: Readonly<Record<string, LabelWrite>>): void {
    if (Object.keys(writes).length > 0) this.#byNode.set(node, writes);
    else this.#byNode.delete(node);
  }
}

function without<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}
