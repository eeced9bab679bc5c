import type { Pair } from '../pairs/pair.ts';
import type { FaultKind } from './faults.ts';

/**
 * Whether a pair shows that a fault of a kind did not affect it when it was measured.
 *
 * | fault | pair works |
 * |---|---|
 * | Failed | unless it is Failed: pairs may lose packets, or lack one address family, before the fault and after it |
 * | any other | if it is Ok |
 */
export function works(kind: FaultKind, { quality }: Pair): boolean {
  return kind === 'Failed' ? quality !== 'Failed' : quality === 'Ok';
}

/** Returns the start of the earliest measurement since which the pair works, or fails, without a change: see `works`. */
export function sinceOf(kind: FaultKind, { since, failedSince }: Pair): number {
  return kind === 'Failed' ? failedSince : since;
}

/**
 * Returns when a pair began to work again: the start of its last measurement. Undefined if it worked before, or does not work, or if
 * that is not certain: a pair that is new in the rotation may have worked all the time, and loss may be as heavy as before,
 * with some datagrams passing by chance.
 */
export function recoveredAt(kind: FaultKind, pair: Pair): number | undefined {
  const isCertain = works(kind, pair) && pair.quality !== 'Lossy' && !pair.isFirst;
  return isCertain && sinceOf(kind, pair) === pair.last ? pair.last : undefined;
}
