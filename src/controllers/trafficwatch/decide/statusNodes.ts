import type { NodeVerdict } from './verdict.ts';

/** Up to this many nodes the status lists all of them; etcd takes at most 1.5 MiB an object, and people read less. */
export const MAX_NODES_IN_FULL = 100;
/** Beyond that, how many nodes it lists: about 200 bytes each, so that the status stays below 16 KiB. */
const MAX_NODES_LISTED = 60;
/** Of those, places kept for the nodes with the highest figures, whatever their verdict. */
const HOTTEST_LISTED = 20;

/** What decides whether a node is listed. */
export interface Candidate {
  readonly name: string;
  readonly verdict: Pick<NodeVerdict, 'verdict'>;
  /** Absent where there is no figure. */
  readonly percent?: number | undefined;
}

/** Unfit before Unknown before Fit: what a person looks for first. */
const RANK = { Unfit: 0, Unknown: 1, Fit: 2 } as const;

function byName(a: Candidate, b: Candidate): number {
  return a.name < b.name ? -1 : 1;
}

function byPercent(a: Candidate, b: Candidate): number {
  return (b.percent ?? -1) - (a.percent ?? -1) || byName(a, b);
}

/** In one go, since sorting ten thousand in each pass takes longer than deciding them. */
function hottest<T extends Candidate>(nodes: readonly T[]): T[] {
  const first: T[] = [];
  for (const node of nodes) {
    const last = first[HOTTEST_LISTED - 1];
    if (last !== undefined && byPercent(last, node) < 0) continue;
    const place = first.findIndex((other) => byPercent(node, other) < 0);
    first.splice(place < 0 ? first.length : place, 0, node);
    first.length = Math.min(first.length, HOTTEST_LISTED);
  }
  return first;
}

function mostUrgent<T extends Candidate>(nodes: readonly T[]): T[] {
  return nodes
    .filter(({ verdict }) => verdict.verdict !== 'Fit')
    .sort((a, b) => RANK[a.verdict.verdict] - RANK[b.verdict.verdict] || byName(a, b));
}

/**
 * The nodes that the status lists, sorted by name: all up to MAX_NODES_IN_FULL, beyond it the hottest and then those
 * that are unfit or unknown, up to a limit. The counts beside it always speak of all nodes.
 */
export function selectNodes<T extends Candidate>(all: readonly T[]): T[] {
  if (all.length <= MAX_NODES_IN_FULL) return [...all].sort(byName);
  const chosen = new Set<T>(hottest(all));
  for (const node of mostUrgent(all)) {
    if (chosen.size >= MAX_NODES_LISTED) break;
    chosen.add(node);
  }
  return [...chosen].sort(byName);
}
