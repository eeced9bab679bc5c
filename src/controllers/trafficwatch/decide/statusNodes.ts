import type { NodeStatus } from '../../../api/trafficwatch.ts';

/** Up to this many nodes the status lists all of them; etcd takes at most 1.5 MiB an object, and people read less. */
export const MAX_NODES_IN_FULL = 100;
/** Beyond that, how many nodes it lists: about 200 bytes each, so that the status stays below 16 KiB. */
const MAX_NODES_LISTED = 60;
/** Of those, places kept for the nodes with the highest figures, whatever their verdict. */
const HOTTEST_LISTED = 20;

type Entry = readonly [name: string, status: NodeStatus];

/** Unfit before Unknown before Fit: what a person looks for first. */
const RANK = { Unfit: 0, Unknown: 1, Fit: 2 } as const;

function percentOf(status: NodeStatus): number {
  return status.currentBandwidthPercent === '' ? -1 : Number(status.currentBandwidthPercent);
}

function byName(a: Entry, b: Entry): number {
  return a[0] < b[0] ? -1 : 1;
}

function hottest(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => percentOf(b[1]) - percentOf(a[1]) || byName(a, b)).slice(0, HOTTEST_LISTED);
}

function mostUrgent(entries: readonly Entry[]): Entry[] {
  return entries
    .filter(([, s]) => s.verdict !== 'Fit')
    .sort((a, b) => RANK[a[1].verdict] - RANK[b[1].verdict] || byName(a, b));
}

/**
 * The nodes that the status lists: all up to MAX_NODES_IN_FULL, beyond it the hottest and then those that are unfit
 * or unknown, up to a limit. The counts beside it always speak of all nodes.
 */
export function selectNodes(all: ReadonlyMap<string, NodeStatus>): Record<string, NodeStatus> {
  const entries: Entry[] = [...all].sort(byName);
  if (entries.length <= MAX_NODES_IN_FULL) return Object.fromEntries(entries);
  const chosen = new Map<string, NodeStatus>(hottest(entries));
  for (const [name, status] of mostUrgent(entries)) {
    if (chosen.size >= MAX_NODES_LISTED) break;
    chosen.set(name, status);
  }
  return Object.fromEntries([...chosen].sort(byName));
}
