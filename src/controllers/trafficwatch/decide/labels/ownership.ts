import type { Claim } from '../../observe/observation.ts';

/** The fields of a claim that decide which claim wins. */
export type Rank = Pick<Claim, 'uid' | 'creationTimestamp'>;

/** Whether claim `a` wins over claim `b`: the older one, then the smaller UID. Every replica gets the same result. */
export function precedes(a: Rank, b: Rank): boolean {
  const [olderA, olderB] = [Date.parse(a.creationTimestamp), Date.parse(b.creationTimestamp)];
  return olderA === olderB ? a.uid < b.uid : olderA < olderB;
}

/** The claim that owns the key instead of `mine`; undefined if `mine` owns it. */
export function ownerBefore(mine: Rank, others: readonly Claim[]): Claim | undefined {
  return others.filter((other) => precedes(other, mine)).sort((a, b) => (precedes(a, b) ? -1 : 1))[0];
}
