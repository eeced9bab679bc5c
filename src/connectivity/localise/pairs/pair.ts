import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { PeerResult } from '../../protocol/measurement.ts';
import type { AgentView, ClusterView } from '../view.ts';
import { lostOf, qualityOf, refused, type Quality } from './quality.ts';

/** What the agent of one node measured towards the agent of another, on one plane. */
export interface Pair {
  readonly from: string;
  readonly to: string;
  readonly plane: Plane;
  /** That of the worst address, if the peer has several. */
  readonly quality: Quality;
  /** Datagrams of all addresses. */
  readonly sent: number;
  readonly lost: number;
  /** The peer's host answered that no agent listens. */
  readonly refused: boolean;
  /** The worst address. */
  readonly worst: PeerResult;
  /**
   * Start of the last measurement, and of the earliest one since which the pair is Ok, or is not: the last or the one
   * before. Ms of the clock of the view; from -Infinity to Infinity if times are not known.
   */
  readonly since: number;
  readonly last: number;
  /** It is Ok, and was not in the measurement before. */
  readonly recovered: boolean;
}

/** Agents by node and plane, of nodes that are not excluded. */
export type AgentsByPlace = ReadonlyMap<string, AgentView>;

export function placeOf(node: string, plane: Plane): string {
  return `${plane}/${node}`;
}

/** The agents whose nodes may be the subject of a finding. */
export function agentsByPlace(view: ClusterView): AgentsByPlace {
  const nodes = new Set(view.nodes.filter(({ excluded }) => excluded === undefined).map(({ name }) => name));
  return new Map(
    view.agents.filter(({ node }) => nodes.has(node)).map((agent) => [placeOf(agent.node, agent.plane), agent]),
  );
}

/**
 * The pairs that say something about the network.
 *
 * | from | to | pair |
 * |---|---|---|
 * | Reporting | Reporting or Silent | counts |
 * | Reporting | Starting or Absent | says nothing: no agent answers |
 * | any | node excluded, unknown, or the same node | says nothing |
 * | one of both is `recent` | | counts if it is Ok, and says nothing otherwise |
 */
export function pairsOf(view: ClusterView, agents: AgentsByPlace): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const agent of agents.values()) {
    if (agent.state !== 'Reporting') continue;
    for (const [node, results] of byNode(agent.peers)) {
      const peer = agents.get(placeOf(node, agent.plane));
      if (node === agent.node || peer === undefined || !mayAnswer(peer)) continue;
      const pair = pairOf(agent, node, results, view.thresholds.lossPercent);
      if (pair.quality === 'Ok' || !(agent.recent ?? peer.recent ?? false)) pairs.push(pair);
    }
  }
  return pairs;
}

function mayAnswer({ state }: AgentView): boolean {
  return state === 'Reporting' || state === 'Silent';
}

function byNode(peers: readonly PeerResult[]): Map<string, PeerResult[]> {
  const nodes = new Map<string, PeerResult[]>();
  for (const peer of peers) {
    const known = nodes.get(peer.node);
    if (known === undefined) nodes.set(peer.node, [peer]);
    else known.push(peer);
  }
  return nodes;
}

/** Worst first. */
const ORDER: readonly Quality[] = ['Failed', 'Lossy', 'Mtu', 'Ok'];

/** When the pair was measured, and whether it was Ok before. */
function timesOf({ times }: AgentView, to: string, isOk: boolean, lossPercent: number) {
  if (times === undefined) return { since: -Infinity, last: Infinity, recovered: false };
  const { measuredAt: last, before } = times;
  if (before === undefined) return { since: last, last, recovered: false };
  const wasOk = before.peers.every((peer) => peer.node !== to || qualityOf(peer, lossPercent) === 'Ok');
  return { since: wasOk === isOk ? before.measuredAt : last, last, recovered: isOk && !wasOk };
}

function pairOf(agent: AgentView, to: string, results: readonly PeerResult[], lossPercent: number): Pair {
  const rated = results.map((peer) => ({ peer, quality: qualityOf(peer, lossPercent) }));
  const worst = rated.reduce((a, b) => (ORDER.indexOf(b.quality) < ORDER.indexOf(a.quality) ? b : a));
  return {
    from: agent.node,
    to,
    plane: agent.plane,
    quality: worst.quality,
    sent: results.reduce((sum, { udp }) => sum + udp.sent, 0),
    lost: results.reduce((sum, peer) => sum + lostOf(peer), 0),
    refused: results.some(refused),
    worst: worst.peer,
    ...timesOf(agent, to, worst.quality === 'Ok', lossPercent),
  };
}
