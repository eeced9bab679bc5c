import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import { keyOf } from '../../../runtime/client/resource.ts';

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
