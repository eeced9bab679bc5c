import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Steps } from '../steps.ts';
import { checkedNodes, type AgentView, type ClusterView } from '../view.ts';
import {
  familiesOf,
  familyOf,
  isSlow,
  lostOf,
  qualityOf,
  refused,
  withAddress,
  type Limits,
  type Rating,
  type ReadResult,
} from './quality.ts';
import { slowFrom } from './latency.ts';
import { readBefore, refusalOf, rejection } from './refusal.ts';

/** The measurement of the agent of one node towards the agent of another, on one plane. */
export interface Pair extends Rating, PairTimes {
  readonly from: string;
  readonly to: string;
  readonly plane: Plane;
}

/** When a pair was measured. */
interface PairTimes {
  /**
   * Start of the last measurement, and of the earliest one since which the pair is Ok, or is not: the last or the one
   * before, if that one probed the pair. Ms of the clock of the view; from -Infinity to Infinity if times are not known.
   */
  readonly since: number;
  readonly last: number;
  /** As `since`, but the earliest measurement since which the pair is Failed, or is not. */
  readonly failedSince: number;
  /** The measurement before did not probe it, so it is not known whether it was Ok then. */
  readonly isFirst: boolean;
}

/** Returns the key of a node on a plane. */
export function placeOf(node: string, plane: Plane): string {
  return `${plane}/${node}`;
}

/** The agents of nodes that are not excluded: only such a node may be the subject of a finding. */
export class AgentsByPlace {
  // Without keys of both: there may be 100,000 pairs, and each is looked up.
  readonly #planes: Readonly<Record<Plane, Map<string, AgentView>>> = { Pod: new Map(), Host: new Map() };

  constructor(view: Pick<ClusterView, 'nodes' | 'agents'>) {
    const checked = checkedNodes(view);
    for (const agent of view.agents) if (checked.has(agent.node)) this.#planes[agent.plane].set(agent.node, agent);
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
 * | refused, and it is not sure by whom | | counts as in the measurement before if it was Ok, and says nothing otherwise |
 */
export function* pairsOf(view: ClusterView, agents: AgentsByPlace): Steps<readonly Pair[]> {
  const pairs: Pair[] = [];
  const limits = { ...view.thresholds, slowMs: slowFrom(agents.all()) };
  for (const agent of agents.all()) {
    yield;
    if (agent.state !== 'Reporting') continue;
    for (const { isUnsure, ...pair } of pairsFrom(agent, agents, limits).values()) {
      const peer = agents.at(pair.to, agent.plane);
      if (pair.to === agent.node || peer === undefined || !mayAnswer(peer)) continue;
      if (pair.quality !== 'Ok' && (agent.recent === true || peer.recent === true)) continue;
      const times = isUnsure ? timesBefore(agent, pair) : timesOf(agent, peer, pair, limits);
      if (times !== undefined) pairs.push({ ...pair, ...times });
    }
  }
  return pairs;
}

function mayAnswer({ state }: AgentView): boolean {
  return state === 'Reporting' || state === 'Silent';
}

/** A pair as the last measurement shows it. */
type RatedPair = Omit<Pair, keyof PairTimes>;

interface ReadPair extends RatedPair {
  /** A result is a refusal of which it is not sure where it comes from. */
  readonly isUnsure: boolean;
}

/** Returns the pairs of an agent by the node of the peer, which may have several addresses. */
function pairsFrom(agent: AgentView, agents: AgentsByPlace, limits: Limits): Map<string, ReadPair> {
  const pairs = new Map<string, ReadPair>();
  for (const result of agent.peers) {
    const known = pairs.get(result.node);
    const refusal = refused(result) ? refusalOf(agent, agents.at(result.node, agent.plane), result) : 'Answer';
    const peer = refusal === 'Rejection' ? rejection(result) : result;
    const pair = known === undefined ? pairOf(agent, peer, limits) : withAddress(known, peer, limits);
    pairs.set(result.node, refusal === 'Unsure' ? { ...pair, isUnsure: true } : pair);
  }
  return pairs;
}

function pairOf({ node, plane }: AgentView, peer: ReadResult, limits: Limits): ReadPair {
  return {
    isUnsure: false,
    from: node,
    to: peer.node,
    plane,
    quality: qualityOf(peer, limits),
    sent: peer.udp.sent,
    lost: lostOf(peer),
    refused: refused(peer),
    isSlow: isSlow(peer, limits),
    worst: peer,
  };
}

/** Returns the times of a pair as the measurement before showed it. Undefined if it was not Ok then, or not probed. */
function timesBefore({ times }: AgentView, { to, quality }: RatedPair): PairTimes | undefined {
  const { before } = times ?? {};
  if (before === undefined || quality !== 'Ok' || before.unprobed.includes(to)) return undefined;
  if (before.peers.some(({ node }) => node === to)) return undefined;
  const { measuredAt } = before;
  return { since: measuredAt, last: measuredAt, failedSince: measuredAt, isFirst: false };
}

function timesOf(agent: AgentView, target: AgentView, pair: RatedPair, limits: Limits): PairTimes {
  const { times } = agent;
  if (times === undefined) return { since: -Infinity, last: Infinity, failedSince: -Infinity, isFirst: false };
  const { measuredAt: last, before } = times;
  const isFirst = before?.unprobed.includes(pair.to) === true;
  if (before === undefined || isFirst) return { since: last, last, failedSince: last, isFirst };
  const flawed: readonly ReadResult[] =
    before.peers.length === 0
      ? []
      : before.peers.flatMap((peer) => (peer.node === pair.to ? readBefore(agent, target, peer) : []));
  const wasOk = flawed.every((peer) => qualityOf(peer, limits) === 'Ok');
  const wasFailed = flawed.length > 0 && failedOverAll(flawed, pair, limits);
  return {
    since: wasOk === (pair.quality === 'Ok') ? before.measuredAt : last,
    last,
    failedSince: wasFailed === (pair.quality === 'Failed') ? before.measuredAt : last,
    isFirst,
  };
}

/** Whether a pair failed over all of its families. Addresses that are not among the flawed ones worked. */
function failedOverAll(flawed: readonly ReadResult[], pair: RatedPair, limits: Limits): boolean {
  const failed = flawed.filter((peer) => qualityOf(peer, limits) === 'Failed');
  return familiesOf(pair).every((family) => failed.some(({ address }) => familyOf(address) === family));
}

/** From the first to the last of one or two measurements in a row with the same result: ms of the clock of a view. */
export interface Period {
  readonly since: number;
  readonly last: number;
}

/** A probe is sent within this time after the start of its measurement, also on a busy node, ms. */
const MARGIN_MS = 1_000;

/**
 * The time from which on a result is certain. Of a single measurement, only the start is known, so one of another agent
 * that started a moment later may have been made before.
 */
export function certainSince({ since, last }: Period): number {
  return since === last ? since + MARGIN_MS : since;
}
