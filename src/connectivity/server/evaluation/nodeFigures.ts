import { PLANES, type Plane } from '../../../api/connectivitycheck/terms.ts';
import type { AgentView, ClusterView } from '../../localise/view.ts';
import type { PeerResult } from '../../protocol/measurement.ts';

/** What was measured from and towards one node on one plane. */
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
  readonly node: string;
  readonly plane: Plane;
  sent: number;
  received: number;
  readonly times: number[];
}

/** Sums up the last reports by node and plane. Nodes that are left out have no figures. */
export function nodeFigures(views: readonly ClusterView[]): NodeFigures[] {
  const sums = new Map<string, Sum>();
  for (const { agent, peer } of resultsOf(views)) {
    for (const node of [agent.node, peer.node]) add(sumOf(sums, node, agent.plane), peer);
  }
  return [...sums.values()].map(({ node, plane, sent, received, times }) => ({
    ...{ node, plane },
    ...(sent > 0 && { lossRatio: 1 - received / sent }),
    ...(times.length > 0 && { latencySeconds: median(times) / 1_000 }),
  }));
}

/** Counts the pairs of each plane that has agents in a view. A pair of nodes with two address families is one. */
export function pairFigures(views: readonly ClusterView[]): PairFigures[] {
  const covered: Record<Plane, Set<string>> = { Pod: new Set(), Host: new Set() };
  const failed: Record<Plane, Set<string>> = { Pod: new Set(), Host: new Set() };
  for (const { agent, peer } of resultsOf(views)) {
    const pair = `${agent.node} ${peer.node}`;
    covered[agent.plane].add(pair);
    if (!peer.tcp.ok && peer.udp.received === 0) failed[agent.plane].add(pair);
  }
  const checked = PLANES.filter((plane) => views.some(({ agents }) => agents.some((agent) => agent.plane === plane)));
  return checked.map((plane) => ({
    plane,
    covered: covered[plane].size,
    failed: failed[plane].size,
  }));
}

/** Each result once, although several checks may select its nodes. */
function* resultsOf(views: readonly ClusterView[]): Generator<{ agent: AgentView; peer: PeerResult }> {
  const seen = new Set<PeerResult>();
  for (const { nodes, agents } of views) {
    const judged = new Set(nodes.flatMap(({ name, excluded }) => (excluded === undefined ? [name] : [])));
    for (const agent of agents) {
      for (const peer of judged.has(agent.node) ? agent.peers : []) {
        if (!judged.has(peer.node) || seen.has(peer)) continue;
        seen.add(peer);
        yield { agent, peer };
      }
    }
  }
}

function sumOf(sums: Map<string, Sum>, node: string, plane: Plane): Sum {
  const key = `${plane} ${node}`;
  const sum = sums.get(key) ?? { node, plane, sent: 0, received: 0, times: [] };
  sums.set(key, sum);
  return sum;
}

function add(sum: Sum, { udp }: PeerResult): void {
  sum.sent += udp.sent;
  sum.received += udp.received;
  if (udp.ms !== undefined) sum.times.push(udp.ms);
}

/** Of at least one value. With an even number, the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}
