import type { Clock } from '../process/clock.ts';

/** Releases the slot; a second call has no effect. */
export type Release = () => void;

interface Waiter {
  admit: () => void;
}

/** A semaphore with `limit` slots, first come, first served. */
export class InFlight {
  readonly #limit: number;
  #taken = 0;
  #waiting: Waiter[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The release function of a slot; undefined if none is free. */
  tryAcquire(): Release | undefined {
    return this.#taken < this.#limit ? this.#take() : undefined;
  }

  /** Resolves with the release function of a slot, or with undefined once `signal` is aborted. */
  acquire(signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const free = this.tryAcquire();
    if (free !== undefined) return Promise.resolve(free);
    return new Promise((resolve) => {
      const waiter = {
        admit: () => {
          signal.removeEventListener('abort', leave);
          resolve(this.#take());
        },
      };
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        resolve(undefined);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #take(): Release {
    this.#taken += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken -= 1;
      this.#waiting.shift()?.admit();
    };
  }
}

/**
 * Calls `work` for each item, at most `atOnce` at a time, in the order of the items.
 *
 * @throws the first error of `work`; calls that have begun go on
 */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** How much one key may use. */
export interface Allowance {
  /** At once, after a pause: at least 1. */
  readonly burst: number;
  /** Permanently. */
  readonly perSecond: number;
}

/** Tolerates the rounding of sums of floating-point numbers: ms. */
const ROUNDING_MS = 1e-3;

/**
 * Token buckets by key, as the generic cell rate algorithm (ITU-T I.371): limit how often each key may do something. A key that was idle
 * for long enough has its whole burst.
 */
export class TokenBuckets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #mostKeys: number;
  /** Key -> when its bucket is full again, monotonic ms; the key that was used least recently first. A full bucket has no entry. */
  readonly #fullAt = new Map<string, number>();

  /** @param mostKeys beyond these, the key that was used least recently is forgotten: others may choose keys */
  constructor(clock: Pick<Clock, 'monotonic'>, { mostKeys = Infinity } = {}) {
    this.#clock = clock;
    this.#mostKeys = mostKeys;
  }

  /** Number of keys that are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes `cost` tokens. @param reserve tokens that must be left. @returns false if there are too few: none is taken */
  take(key: string, allowance: Allowance, reserve = 0, cost = 1): boolean {
    if (this.waitMs(key, allowance, reserve, cost) > 0) return false;
    const fullAt = this.#fullAtOf(key) + (cost * 1_000) / allowance.perSecond;
    this.#fullAt.delete(key);
    this.#fullAt.set(key, fullAt);
    this.#forget();
    return true;
  }

  /** Milliseconds until the key has `cost` tokens, and the reserve; 0 if it has them. */
  waitMs(key: string, { burst, perSecond }: Allowance, reserve = 0, cost = 1): number {
    const untilFullMs = this.#fullAtOf(key) - this.#clock.monotonic();
    const mayLackMs = ((burst - cost - reserve) * 1_000) / perSecond;
    return Math.max(Math.ceil(untilFullMs - mayLackMs - ROUNDING_MS), 0);
  }

  #fullAtOf(key: string): number {
    const now = this.#clock.monotonic();
    return Math.max(this.#fullAt.get(key) ?? now, now);
  }

  /** Keys come and go: forgets those at the begin whose buckets are full, and those beyond the most. Each key is forgotten once. */
  #forget(): void {
    const now = this.#clock.monotonic();
    for (const [key, fullAt] of this.#fullAt) {
      if (fullAt > now && this.#fullAt.size <= this.#mostKeys) return;
      this.#fullAt.delete(key);
    }
  }
}

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

  /**
   * Takes the next item, and says whose turn it was. Undefined if the queue is empty.
   *
   * @param isHeld groups that keep their place, and have no turn now: each is asked once
   */
  take(
    isHeld: (group: string) => boolean = () => false,
  ): { readonly group: string; readonly item: T; readonly isUrgent: boolean } | undefined {
    for (const [group, lane] of this.#lanes) {
      if (isHeld(group)) continue;
      this.#lanes.delete(group);
      const isUrgent = lane.nextFirst < lane.first.length;
      const item = isUrgent ? lane.first[lane.nextFirst++] : lane.others[lane.nextOther++];
      if (lane.nextFirst < lane.first.length || lane.nextOther < lane.others.length) this.#lanes.set(group, lane);
      if (item !== undefined) return { group, item, isUrgent };
    }
    return undefined;
  }

  /** Takes the item of a group that would be served last. Undefined if the group has none. */
  takeNewest(group: string): T | undefined {
    const lane = this.#lanes.get(group);
    if (lane === undefined) return undefined;
    const newest = lane.nextOther < lane.others.length ? lane.others.pop() : lane.first.pop();
    if (lane.nextFirst >= lane.first.length && lane.nextOther >= lane.others.length) this.#lanes.delete(group);
    return newest;
  }

  clear(): void {
    this.#lanes.clear();
  }
}

/** How groups share the parallel calls of `forEachFairly`. */
interface Shares<T> {
  readonly groupOf: (item: T) => string;
  /** Most parallel calls. */
  readonly atOnce: number;
  /** Parallel calls of a group from which groups with fewer have precedence, and most of all slow groups together. */
  readonly share: number;
  /** Groups whose calls did not end before: together they have one share. */
  readonly isSlow: (group: string) => boolean;
}

/**
 * Calls `work` for each item, groups in turn. A group begins with one call, and may have one more at a time for each call that has ended: a group
 * whose calls hang keeps one place, and the places that its share leaves free go to groups whose calls end.
 *
 * @throws the first error of `work`; calls that have begun go on, and no other begins
 */
export function forEachFairly<T>(
  items: readonly T[],
  { groupOf, atOnce, share, isSlow }: Shares<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = new FairQueue<T>();
  for (const item of items) queue.add(groupOf(item), item);
  const running = new Map<string, number>();
  const ended = new Map<string, number>();
  let [all, slow] = [0, 0];
  const count = (group: string, step: 1 | -1): void => {
    running.set(group, (running.get(group) ?? 0) + step);
    all += step;
    if (isSlow(group)) slow += step;
  };
  // Only a group with running calls is held, so that at most `atOnce` groups are passed over; of the slow ones, those behind the first `share`.
  const isHeld = (group: string): boolean =>
    (running.get(group) ?? 0) > (ended.get(group) ?? 0) || (isSlow(group) && slow >= share);
  const hasShare = (group: string): boolean => (running.get(group) ?? 0) >= share;
  return new Promise((resolve, reject) => {
    let hasFailed = false;
    const begin = (): void => {
      while (!hasFailed && all < atOnce) {
        const next = queue.take((group) => isHeld(group) || hasShare(group)) ?? queue.take(isHeld);
        if (next === undefined) break;
        count(next.group, 1);
        work(next.item).then(() => end(next.group), fail);
      }
      if (all === 0) resolve();
    };
    const end = (group: string): void => {
      count(group, -1);
      ended.set(group, (ended.get(group) ?? 0) + 1);
      begin();
    };
    const fail = (error: unknown): void => {
      hasFailed = true;
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    begin();
  });
}

/**
 * Counts by member, and finds a member with the highest count at constant cost: members are kept by their count, which
 * changes by one at a time.
 */
export class Busiest<T> {
  /** Members by their count. */
  readonly #byCount: T[][] = [];
  readonly #places = new Map<T, { readonly count: number; readonly index: number }>();
  #most = 0;

  /** The count of a member, 0 if it was never added. */
  of(member: T): number {
    return this.#places.get(member)?.count ?? 0;
  }

  /** A member with the highest count; undefined if all counts are 0. */
  get first(): T | undefined {
    return this.#byCount[this.#most]?.at(-1);
  }

  /** Adds one to the count of a member. */
  add(member: T): void {
    this.#move(member, 1);
  }

  /** Takes one from the count of a member. A member whose count is 0 takes no memory. */
  remove(member: T): void {
    this.#move(member, -1);
  }

  #move(member: T, step: 1 | -1): void {
    const count = this.of(member) + step;
    this.#takeOut(member);
    if (count > 0) {
      const members = (this.#byCount[count] ??= []);
      this.#places.set(member, { count, index: members.length });
      members.push(member);
    }
    if (count > this.#most) this.#most = count;
    // The highest count falls by one at most: the member that had it now has one less.
    else if (this.#most > 0 && this.#byCount[this.#most]?.length === 0) this.#most -= 1;
  }

  /** The last of the members with the same count takes the place. */
  #takeOut(member: T): void {
    const place = this.#places.get(member);
    if (place === undefined) return;
    this.#places.delete(member);
    const members = this.#byCount[place.count] ?? [];
    const last = members.pop();
    if (last === undefined || last === member) return;
    members[place.index] = last;
    this.#places.set(last, place);
  }
}
