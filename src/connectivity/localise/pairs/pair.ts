import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { PeerResult } from '../../protocol/measurement.ts';
import type { AgentView, ClusterView } from '../view.ts';
import { lostOf, qualityOf, refused, type Quality } from './quality.ts';

/** What the agent of one node measured towards the agent of another, on one plane. */
export interface Pair extends PairTimes {
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
}

/** When a pair was measured, and whether it was Ok before. */
interface PairTimes {
  /**
   * Start of the last measurement, and of the earliest one since which the pair is Ok, or is not: the last or the one
   * before, if that one probed the pair. Ms of the clock of the view; from -Infinity to Infinity if times are not known.
   */
  readonly since: number;
  readonly last: number;
  /** The measurement before did not probe it, so it is not known whether it was Ok then. */
  readonly isFirst: boolean;
  /** It is Ok, and was not in the measurement before. */
  readonly recovered: boolean;
}

/** A key of a node on a plane. */
export function placeOf(node: string, plane: Plane): string {
  return `${plane}/${node}`;
}

/** The agents whose nodes may be the subject of a finding: those of nodes that are not excluded. */
export class AgentsByPlace {
  // Without keys of both: there may be 100,000 pairs, and each is looked up.
  readonly #planes: Readonly<Record<Plane, Map<string, AgentView>>> = { Pod: new Map(), Host: new Map() };

  constructor({ nodes, agents }: Pick<ClusterView, 'nodes' | 'agents'>) {
    const names = new Set(nodes.filter(({ excluded }) => excluded === undefined).map(({ name }) => name));
    for (const agent of agents) if (names.has(agent.node)) this.#planes[agent.plane].set(agent.node, agent);
  }

  at(node: string, plane: Plane): AgentView | undefined {
    return this.#planes[plane].get(node);
  }

  all(): readonly AgentView[] {
    return [...this.#planes.Pod.values(), ...this.#planes.Host.values()];
  }
}

/**
 * The pairs that say something about the network.
 *
 * | from | to | pair |
 * |---|---|---|
 * | Reporting | Reporting or Silent | counts |
 * | Reporting | Starting, Broken or Absent | says nothing: no agent answers |
 * | any | node excluded, unknown, or the same node | says nothing |
 * | one of both is `recent` | | counts if it is Ok, and says nothing otherwise |
 */
export function pairsOf(view: ClusterView, agents: AgentsByPlace): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const agent of agents.all()) {
    if (agent.state !== 'Reporting') continue;
    for (const pair of pairsFrom(agent, view.thresholds.lossPercent).values()) {
      const peer = agents.at(pair.to, agent.plane);
      if (pair.to === agent.node || peer === undefined || !mayAnswer(peer)) continue;
      if (pair.quality !== 'Ok' && (agent.recent === true || peer.recent === true)) continue;
      pairs.push({ ...pair, ...timesOf(agent, pair, view.thresholds.lossPercent) });
    }
  }
  return pairs;
}

function mayAnswer({ state }: AgentView): boolean {
  return state === 'Reporting' || state === 'Silent';
}

/** A pair as the last measurement shows it. */
type RatedPair = Omit<Pair, keyof PairTimes>;

/** By node of the peer, which may have several addresses. */
function pairsFrom(agent: AgentView, lossPercent: number): Map<string, RatedPair> {
  const pairs = new Map<string, RatedPair>();
  for (const peer of agent.peers) {
    const pair = pairOf(agent, peer, lossPercent);
    const known = pairs.get(peer.node);
    pairs.set(peer.node, known === undefined ? pair : merged(known, pair));
  }
  return pairs;
}

function pairOf({ node, plane }: AgentView, peer: PeerResult, lossPercent: number): RatedPair {
  return {
    from: node,
    to: peer.node,
    plane,
    quality: qualityOf(peer, lossPercent),
    sent: peer.udp.sent,
    lost: lostOf(peer),
    refused: refused(peer),
    worst: peer,
  };
}

/** Worst first. */
const ORDER: readonly Quality[] = ['Failed', 'Lossy', 'Mtu', 'Ok'];

function merged(one: RatedPair, other: RatedPair): RatedPair {
  const { quality, worst } = ORDER.indexOf(other.quality) < ORDER.indexOf(one.quality) ? other : one;
  return {
    ...one,
    ...{ quality, worst },
    sent: one.sent + other.sent,
    lost: one.lost + other.lost,
    refused: one.refused || other.refused,
  };
}

function timesOf({ times }: AgentView, { to, quality }: RatedPair, lossPercent: number): PairTimes {
  if (times === undefined) return { since: -Infinity, last: Infinity, isFirst: false, recovered: false };
  const { measuredAt: last, before } = times;
  const isFirst = before?.unprobed.includes(to) === true;
  if (before === undefined || isFirst) return { since: last, last, isFirst, recovered: false };
  const isOk = quality === 'Ok';
  const wasOk = before.peers.every((peer) => peer.node !== to || qualityOf(peer, lossPercent) === 'Ok');
  return { since: wasOk === isOk ? before.measuredAt : last, last, isFirst, recovered: isOk && !wasOk };
}
