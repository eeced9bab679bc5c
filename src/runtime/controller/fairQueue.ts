/** The waiting items of one group. Entries before an index are taken: Array.shift() would move thousands of entries. */
interface Lane<T> {
  readonly first: T[];
  readonly others: T[];
  nextFirst: number;
  nextOther: number;
}

/**
 * A queue that serves groups in turn, one item each. A group with thousands of items thus delays the next item of another group by
 * one item for each group. Within a group, items keep the order of their addition, urgent items first.
 */
export class FairQueue<T> {
  /** Groups with items, in the order of their turns. */
  readonly #lanes = new Map<string, Lane<T>>();

  /** @param isUrgent taken before the other items of its group */
  add(group: string, item: T, isUrgent = false): void {
    const lane = this.#lanes.get(group) ?? { first: [], others: [], nextFirst: 0, nextOther: 0 };
    (isUrgent ? lane.first : lane.others).push(item);
    this.#lanes.set(group, lane);
  }

  /** Takes the next item, and says whose turn it was. Undefined if the queue is empty. */
  take(): { readonly group: string; readonly item: T; readonly isUrgent: boolean } | undefined {
    for (const [group, lane] of this.#lanes) {
      this.#lanes.delete(group);
      const isUrgent = lane.nextFirst < lane.first.length;
      const item = isUrgent ? lane.first[lane.nextFirst++] : lane.others[lane.nextOther++];
      if (lane.nextFirst < lane.first.length || lane.nextOther < lane.others.length) this.#lanes.set(group, lane);
      if (item !== undefined) return { group, item, isUrgent };
    }
    return undefined;
  }

  clear(): void {
    this.#lanes.clear();
  }
}

/** Returns the items in the order of a FairQueue. @param groupOf the group of an item */
export function inTurns<T>(items: readonly T[], groupOf: (item: T) => string): T[] {
  const queue = new FairQueue<T>();
  for (const item of items) queue.add(groupOf(item), item);
  return Array.from(items, () => queue.take()?.item).filter((item) => item !== undefined);
}
