import { isOlder, type Age } from '../model/labelKeys.ts';

/** A TrafficWatch that may be among the oldest. */
export interface Entry extends Age {
  readonly key: string;
  readonly namespace: string;
}

/** The entry that a change brings among the oldest, and the entry that it removes from them. */
export interface Shift {
  readonly entered: Entry | undefined;
  readonly left: Entry | undefined;
}

/** Entries by age, of which so many as the limit says are the oldest. */
export class Oldest {
  readonly #limit: number;
  readonly #sorted: Entry[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#sorted.length === 0;
  }

  /** Whether the entry is among the oldest. */
  has(entry: Entry | undefined): boolean {
    if (entry === undefined) return false;
    const place = placeByAge(this.#sorted, entry);
    return place < this.#limit && this.#sorted[place]?.uid === entry.uid;
  }

  add(entry: Entry): Shift {
    const place = placeByAge(this.#sorted, entry);
    this.#sorted.splice(place, 0, entry);
    if (place >= this.#limit) return { entered: undefined, left: undefined };
    return { entered: entry, left: this.#sorted[this.#limit] };
  }

  remove(entry: Entry): Shift {
    const place = placeByAge(this.#sorted, entry);
    if (this.#sorted[place]?.uid !== entry.uid) return { entered: undefined, left: undefined };
    this.#sorted.splice(place, 1);
    if (place >= this.#limit) return { entered: undefined, left: undefined };
    return { entered: this.#sorted[this.#limit - 1], left: entry };
  }
}

/** The number of entries that are older. @param sorted by age, the oldest first */
export function placeByAge(sorted: readonly Age[], entry: Age): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle];
    if (other !== undefined && isOlder(other, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
