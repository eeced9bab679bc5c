import type { MtuResult } from '../../protocol/measurement.ts';

/**
 * Sizes that a search tries at most. Two are the MTU of the interface; each of the other 11 halves the range between a size
 * that passes, 299 bytes or more at first, and one that fails. So 1,500 bytes leave neighbours (1,201 / 2^11 < 1): the
 * result is exact. 9,000 leave sizes 5 bytes apart (8,701 / 2^11 = 4.2): the result is 4 bytes too small at most.
 */
export const MOST_SIZES = 13;
/** The length field of an IPv4 packet has 16 bits. The loopback interface says 65,536. */
const LARGEST_PACKET = 65_535;

/** A search for the largest packet that passes. Sizes are bytes of the IP packet. */
export interface MtuSearch {
  readonly interface: number;
  /** Passes. */
  readonly passes: number;
  /** Does not pass. Absent until a size failed. */
  readonly fails?: number;
  /** Sizes that were tried, the MTU of the interface twice. */
  readonly tried: number;
}

/** Begins a search. @param smallest a size that is known to pass */
export function startSearch(interfaceMtu: number, smallest: number): MtuSearch {
  const largest = Math.min(interfaceMtu, LARGEST_PACKET);
  return { interface: largest, passes: Math.min(smallest, largest), tried: 0 };
}

/**
 * The size to try next; undefined at the end of the search.
 *
 * | state | next |
 * |---|---|
 * | nothing tried | the MTU of the interface: in a healthy network the only size |
 * | the MTU passes | end |
 * | the MTU fails once | the MTU again: if a router said that the packet is too large, the kernel splits the next one, and the path is healthy |
 * | a size fails | the middle between the largest that passes and the smallest that fails |
 * | both are neighbours, or MOST_SIZES were tried | end |
 */
export function nextSize({ interface: mtu, passes, fails, tried }: MtuSearch): number | undefined {
  if (passes >= mtu || tried >= MOST_SIZES) return undefined;
  if (fails === undefined || tried === 1) return mtu;
  return fails - passes > 1 ? Math.floor((passes + fails) / 2) : undefined;
}

/** The search after a size was tried. */
export function withTried(search: MtuSearch, size: number, isEchoed: boolean): MtuSearch {
  const tried = search.tried + 1;
  return isEchoed ? { ...search, passes: size, tried } : { ...search, fails: size, tried };
}

/** The result of a search that ended. */
export function mtuResult(search: MtuSearch): MtuResult {
  return { interface: search.interface, largest: search.passes };
}

/** Above this share of lost packets a search would take loss for size. */
const MOST_LOSS = 0.5;
const MOST_TRIES = 8;

/**
 * Returns how often to send each size. A size counts as failed if no packet of it is echoed. The probability that loss alone
 * causes this must be below 1 in 1,000.
 *
 * | lost small packets | tries |
 * |---|---|
 * | none | 3 |
 * | up to half | as many as needed for 1 in 1,000, at most 8 |
 * | more | 0: do not search |
 *
 * @param loss share of the small packets that were lost, 0 to 1
 */
export function triesFor(loss: number): number {
  if (loss > MOST_LOSS) return 0;
  if (loss <= 0) return 3;
  return Math.min(Math.max(3, Math.ceil(Math.log(0.001) / Math.log(loss))), MOST_TRIES);
}
