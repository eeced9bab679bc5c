import { getHeapStatistics } from 'node:v8';

/** Part of the heap that the bodies of all namespaces may take together. The rest is for nodes, stacks and work in progress. */
const PART_OF_HEAP = 1 / 3;

/** A body that is kept. Identifies it when it is released. */
export interface Held {
  readonly group: string;
  readonly bytes: number;
  /** Called when the body gives way to another group. It no longer counts then. */
  readonly drop: () => void;
}

interface Group {
  bytes: number;
  /** In the order in which they were taken. */
  readonly bodies: Set<Held>;
}

/**
 * Divides a fixed number of bytes among groups, such as namespaces, that nobody limits in number. The equal share is the number of bytes
 * divided by the number of groups that have any:
 *
 * | a body                                          | is kept                                                     |
 * |-------------------------------------------------|-------------------------------------------------------------|
 * | with which its group has at most an equal share | always: bodies of the largest other groups give way to it   |
 * | with which its group has more                   | if bytes are free                                           |
 *
 * So only a group with more than an equal share loses bodies to others. While bytes are free, the work does not depend on the number of
 * groups; a body that gives way costs a look at each of them.
 */
export class FairShare {
  readonly #most: number;
  readonly #groups = new Map<string, Group>();
  #bytes = 0;

  /** @param most bytes of all groups together */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that all groups have. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The part of the bytes that all groups have together, 0 to 1. */
  get usedRatio(): number {
    return this.#bytes / this.#most;
  }

  /** Returns what to release later; undefined if the body cannot be kept. May first call `drop` of bodies of other groups. */
  take(held: Held): Held | undefined {
    const { group, bytes } = held;
    const known = this.#groups.get(group);
    const share = this.#most / (this.#groups.size + (known === undefined ? 1 : 0));
    const isWithinShare = (known?.bytes ?? 0) + bytes <= share;
    while (isWithinShare && this.#bytes + bytes > this.#most) this.#dropFirst(this.#largestBut(group));
    if (this.#bytes + bytes > this.#most) return undefined;
    const taking = this.#groups.get(group) ?? { bytes: 0, bodies: new Set() };
    this.#groups.set(group, taking);
    taking.bytes += bytes;
    taking.bodies.add(held);
    this.#bytes += bytes;
    return held;
  }

  /** Does nothing if the body gave way already. */
  release(held: Held): void {
    const group = this.#groups.get(held.group);
    if (group?.bodies.delete(held) !== true) return;
    group.bytes -= held.bytes;
    this.#bytes -= held.bytes;
    if (group.bodies.size === 0) this.#groups.delete(held.group);
  }

  /** While a group within its share finds no room, the others have more than their shares together: one of them has more than its own. */
  #largestBut(except: string): Group {
    let largest: Group = { bytes: 0, bodies: new Set() };
    for (const [name, group] of this.#groups) if (name !== except && group.bytes > largest.bytes) largest = group;
    return largest;
  }

  #dropFirst({ bodies }: Group): void {
    const [first] = bodies;
    if (first === undefined) throw new Error('the bytes of all groups are more than the sum of each');
    this.release(first);
    first.drop();
  }
}

/** The bodies of all caches that read over one transport, which is the memory of one process. */
const SHARES = new WeakMap<object, FairShare>();

/** Returns what the caches of all kinds whose objects are in namespaces share. @param transport of the process */
export function shareOf(transport: object): FairShare {
  const share = SHARES.get(transport) ?? shareOfHeap(PART_OF_HEAP);
  SHARES.set(transport, share);
  return share;
}

/** Creates a share for one kind. @param part of the heap that the process may have, 0 to 1 */
export function shareOfHeap(part: number): FairShare {
  return new FairShare(getHeapStatistics().heap_size_limit * part);
}

/** Bytes of a value without its parts, as Node.js 24 keeps what JSON.parse returns. */
const BYTES = { string: 24, number: 16, item: 8, array: 32, object: 56, field: 24 };

/** Objects of Kubernetes have about twenty levels. API servers accept 10,000, with which functions that call themselves overflow the stack. */
const MOST_LEVELS = 200;

/**
 * Returns about how many bytes a value takes in the heap: 0.8 to 2.5 times what was measured. The length as JSON says less: an array of empty
 * objects takes 21 times as much, a pod template three times. Throws if the value has more than 200 levels.
 *
 * @param value as JSON.parse returns it
 */
export function heapBytesOf(value: unknown, levels = MOST_LEVELS): number {
  if (typeof value === 'string') return BYTES.string + Buffer.byteLength(value);
  if (typeof value === 'number') return BYTES.number;
  if (typeof value !== 'object' || value === null) return 0;
  if (levels === 0) throw new Error(`it has more than ${MOST_LEVELS} levels of fields: it must have fewer`);
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + BYTES.item + heapBytesOf(item, levels - 1), BYTES.array);
  }
  let bytes = BYTES.object;
  for (const [name, field] of Object.entries(value))
    bytes += BYTES.field + name.length + heapBytesOf(field, levels - 1);
  return bytes;
}
