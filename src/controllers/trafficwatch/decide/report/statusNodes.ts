import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import type { NodeView } from '../../observe/observation.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';

/** Up to this many nodes the status lists all of them; etcd takes at most 1.5 MiB an object, and people read less. */
export const MAX_NODES_IN_FULL = 100;
/** Beyond that, how many nodes it lists: about 200 bytes each, so that the status stays below 16 KiB. */
const MAX_NODES_LISTED = 60;
/** Of those, places kept for the nodes with the highest figures, whatever their verdict. */
const HOTTEST_LISTED = 20;

/** What decides, beside its verdict, whether a node is listed. */
export interface Candidate {
  readonly node: NodeView;
  /** Where its verdict is. */
  readonly place: number;
  /** Its usage, newest pass first; undefined where a pass has none. */
  readonly passes: readonly (Pick<NodeUsage, 'percent'> | undefined)[];
}

/** A node that is listed. */
export interface Selected {
  readonly node: NodeView;
  readonly verdict: NodeVerdict;
}

/** Unfit before Unknown before Fit: what a person looks for first. */
const RANK = { Unfit: 0, Unknown: 1, Fit: 2 } as const;

function byName(
  { node: { name: a } }: Pick<Candidate, 'node'>,
  { node: { name: b } }: Pick<Candidate, 'node'>,
): number {
  return a < b ? -1 : 1;
}

function byPercent(a: Candidate, b: Candidate): number {
  return (b.passes[0]?.percent ?? -1) - (a.passes[0]?.percent ?? -1) || byName(a, b);
}

type Compare = (a: Candidate, b: Candidate) => number;

/** In one go, since sorting ten thousand in each pass takes longer than deciding them. */
function firstOf<T extends Candidate>(candidates: readonly T[], most: number, compare: Compare): T[] {
  const first: T[] = [];
  for (const candidate of candidates) {
    const last = first[most - 1];
    if (last !== undefined && compare(last, candidate) < 0) continue;
    const place = first.findIndex((other) => compare(candidate, other) < 0);
    first.splice(place < 0 ? first.length : place, 0, candidate);
    first.length = Math.min(first.length, most);
  }
  return first;
}

/** The nodes with the highest figures, highest first: as many as a long list has places for them. */
export function hottestOf<T extends Candidate>(candidates: readonly T[]): T[] {
  return firstOf(candidates, HOTTEST_LISTED, byPercent);
}

/**
 * The unfit nodes, then the unknown ones, by name: as many as a long list has places in all.
 * @param verdicts by place
 */
export function mostUrgent<T extends Candidate>(candidates: readonly T[], verdicts: readonly NodeVerdict[]): T[] {
  const rank = ({ place }: Candidate): number => RANK[verdicts[place]?.verdict ?? 'Fit'];
  const urgent = candidates.filter((each) => rank(each) < RANK.Fit);
  return firstOf(urgent, MAX_NODES_LISTED, (a, b) => rank(a) - rank(b) || byName(a, b));
}

/** What the status lists nodes by. */
export interface Listing {
  readonly candidates: readonly Candidate[];
  /** By place; a node without one is not listed. */
  readonly verdicts: readonly NodeVerdict[];
  /** See hottestOf. */
  readonly hottest: readonly Candidate[];
  /** See mostUrgent. */
  readonly urgent: readonly Candidate[];
}

function chosen({ candidates, hottest, urgent }: Listing): Iterable<Candidate> {
  if (candidates.length <= MAX_NODES_IN_FULL) return candidates;
  const listed = new Set(hottest);
  for (const candidate of urgent) {
    if (listed.size >= MAX_NODES_LISTED) break;
    listed.add(candidate);
  }
  return listed;
}

/** Names of the unfit and unknown nodes that a long list has whichever nodes are the hottest. */
export function alwaysListed({ urgent }: Pick<Listing, 'urgent'>): string[] {
  return urgent.slice(0, MAX_NODES_LISTED - HOTTEST_LISTED).map(({ node }) => node.name);
}

/**
 * The nodes that the status lists, sorted by name: all up to MAX_NODES_IN_FULL, beyond it the hottest and then those
 * that are unfit or unknown, up to a limit. The counts beside it always speak of all nodes.
 */
export function selectNodes(listing: Listing): Selected[] {
  const selected: Selected[] = [];
  for (const { node, place } of chosen(listing)) {
    const verdict = listing.verdicts[place];
    if (verdict !== undefined) selected.push({ node, verdict });
  }
  return selected.sort(byName);
}
