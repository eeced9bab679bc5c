import type { Claim } from '../../observe/observation.ts';

/** The part of a claim that decides its rank. */
export type Rank = Pick<Claim, 'uid' | 'creationTimestamp'>;

/** Who owns a label key: the oldest claim, then the smaller UID, so that every replica decides the same. */
export function precedes(a: Rank, b: Rank): boolean {
  const [olderA, olderB] = [Date.parse(a.creationTimestamp), Date.parse(b.creationTimestamp)];
  return olderA === olderB ? a.uid < b.uid : olderA < olderB;
}

/** The claim that keeps `mine` from the key, or undefined when the key is mine. */
export function ownerBefore(mine: Rank, others: readonly Claim[]): Claim | undefined {
  return others.filter((other) => precedes(other, mine)).sort((a, b) => (precedes(a, b) ? -1 : 1))[0];
}
