import { PLANES, type Plane } from '../../../api/connectivitycheck/terms.ts';
import { checkedNodes, type AgentView, type ClusterView } from '../../localise/view.ts';
import type { Steps } from '../../localise/steps.ts';
import type { PeerResult } from '../../protocol/measurement.ts';

/** The loss and latency from and towards one node on one plane. */
export interface NodeFigures {
  readonly node: string;
  readonly plane: Plane;
  /** Share of lost datagrams, 0 to 1. Absent if none was sent. */
  readonly lossRatio?: number;
  /** Median round trip of its pairs, seconds. Absent if none was echoed. */
  readonly latencySeconds?: number;
}

/** Ordered pairs of nodes in the last reports. */
export interface PairFigures {
  readonly plane: Plane;
  readonly covered: number;
  /** Neither TCP nor UDP gets through, to one of the addresses. */
  readonly failed: number;
}

interface Sum {
  sent: number;
  received: number;
  readonly times: number[];
}

/** Sums up the last reports by node and plane. Nodes that are left out have no figures. */
export function* nodeFigures(views: readonly ClusterView[]): Steps<NodeFigures[]> {
  const sums: Record<Plane, Map<string, Sum>> = { Pod: new Map(), Host: new Map() };
  yield* forEachResult(views, ({ node, plane }, peer) => {
    add(sumOf(sums[plane], node), peer);
    add(sumOf(sums[plane], peer.node), peer);
  });
  return PLANES.flatMap((plane) =>
    [...sums[plane]].map(([node, { sent, received, times }]) => ({
      ...{ node, plane },
      ...(sent > 0 && { lossRatio: 1 - received / sent }),
      ...(times.length > 0 && { latencySeconds: median(times) / 1_000 }),
    })),
  );
}

/** Counts the pairs of each plane that has agents in a view. A pair of nodes with two address families is one. */
export function* pairFigures(views: readonly ClusterView[]): Steps<PairFigures[]> {
  const covered = { Pod: new PairSet(), Host: new PairSet() };
  const failed = { Pod: new PairSet(), Host: new PairSet() };
  yield* forEachResult(views, ({ node, plane }, peer) => {
    covered[plane].add(node, peer.node);
    if (!peer.tcp.ok && peer.udp.received === 0) failed[plane].add(node, peer.node);
  });
  const checked = PLANES.filter((plane) => views.some(({ agents }) => agents.some((agent) => agent.plane === plane)));
  return checked.map((plane) => ({ plane, covered: covered[plane].size, failed: failed[plane].size }));
}

/** A set of pairs without a key for each: there may be 100,000. */
class PairSet {
  readonly #byFirst = new Map<string, Set<string>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(first: string, second: string): void {
    const known = this.#byFirst.get(first) ?? new Set();
    this.#byFirst.set(first, known);
    if (known.has(second)) return;
    known.add(second);
    this.#size += 1;
  }
}

/** Calls `each` once with each result, although several checks may select its nodes. */
function* forEachResult(
  views: readonly ClusterView[],
  each: (agent: AgentView, peer: PeerResult) => void,
): Steps<void> {
  const seen = views.length > 1 ? new Set<PeerResult>() : undefined;
  for (const view of views) {
    const checked = checkedNodes(view);
    for (const agent of view.agents) {
      yield;
      for (const peer of checked.has(agent.node) ? agent.peers : []) {
        if (!checked.has(peer.node) || seen?.has(peer) === true) continue;
        seen?.add(peer);
        each(agent, peer);
      }
    }
  }
}

function sumOf(sums: Map<string, Sum>, node: string): Sum {
  const sum = sums.get(node) ?? { sent: 0, received: 0, times: [] };
  sums.set(node, sum);
  return sum;
}

function add(sum: Sum, { udp }: PeerResult): void {
  sum.sent += udp.sent;
  sum.received += udp.received;
  if (udp.ms !== undefined) sum.times.push(udp.ms);
}

/** Returns the median of at least one value; of an even number of values, the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}
