import type { MeasuredNode, NodeView } from '../../observe/observation.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';
import { HOTTEST_LISTED, byName, firstOf } from '../../model/hottest.ts';

/** Up to this many nodes, the status lists all nodes. etcd accepts at most 1.5 MiB for an object. */
export const MAX_NODES_IN_FULL = 100;
/** Maximum number of listed nodes in a larger cluster: about 200 bytes each keep the status below 16 KiB. */
const MAX_NODES_LISTED = 60;

/** A node that may be listed in the status, and the index of its verdict in the list of verdicts. */
type Candidate = Pick<MeasuredNode, 'node' | 'place'>;

/** A node that the status lists. */
interface Selected {
  readonly node: NodeView;
  readonly verdict: NodeVerdict;
}

/** Unfit before Unknown before Fit: the most urgent first. */
const RANK = { Unfit: 0, Unknown: 1, Fit: 2 } as const;

/**
 * The unfit nodes, then the unknown nodes, each by name: MAX_NODES_LISTED at most.
 * @param verdicts indexed by Candidate.place
 */
export function mostUrgent(candidates: readonly Candidate[], verdicts: readonly NodeVerdict[]): Candidate[] {
  const rank = ({ place }: Candidate): number => RANK[verdicts[place]?.verdict ?? 'Fit'];
  const urgent = candidates.filter((each) => rank(each) < RANK.Fit);
  return firstOf(urgent, MAX_NODES_LISTED, (a, b) => rank(a) - rank(b) || byName(a, b));
}

/** The input for choosing the nodes that the status lists. */
export interface Listing {
  readonly candidates: readonly Candidate[];
  /** Indexed by Candidate.place. A node without a verdict is not listed. */
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

/** Names of the unfit and unknown nodes that are listed whichever nodes are the hottest. */
export function alwaysListed({ urgent }: Pick<Listing, 'urgent'>): string[] {
  return urgent.slice(0, MAX_NODES_LISTED - HOTTEST_LISTED).map(({ node }) => node.name);
}

/**
 * The nodes that the status lists, sorted by name. Up to MAX_NODES_IN_FULL nodes, that is all of them. In a larger
 * cluster, it is the hottest nodes, then unfit and unknown ones, MAX_NODES_LISTED at most. The counts in the status
 * always cover all nodes.
 */
export function selectNodes(listing: Listing): Selected[] {
  const selected: Selected[] = [];
  for (const { node, place } of chosen(listing)) {
    const verdict = listing.verdicts[place];
    if (verdict !== undefined) selected.push({ node, verdict });
  }
  return selected.sort(byName);
}
