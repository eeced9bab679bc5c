import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';
import { MOST_SLOW_MS } from '../localise/pairs/latency.ts';
import { qualityOf, type Quality } from '../localise/pairs/quality.ts';
import type { PeerResult } from '../protocol/measurement.ts';

/** Links of one node and plane. Together with the rotation, an agent has 60 peers at most; agents accept 64. */
export const MOST_LINKS_OF_NODE = 10;
/**
 * Links of both planes. Each is probed from both ends: with 10,000 agents and 10 peers each, they add up to a tenth of all
 * pairs. More links fail only through a fault of nodes or zones, which the rotation sees at any time.
 */
export const MOST_LINKS = 5_000;
/**
 * Share of both that links may take that work in part: they lose packets, or one address of the node works. Every network
 * loses some, and IPv6 may be broken for the whole cluster; a link that fails must find room.
 */
const MOST_PARTIAL = 0.5;
/** Reports in a row in which each end must be Ok. */
const OK_REPORTS = 2;
/** The assignment goes out with the answer to one report, and the next report has the result. */
const AWAITED_REPORTS = 2;

/** The state of a link in one report. */
interface Reported {
  /** The quality of the worst address of the node. */
  readonly quality: Quality;
  /** It loses packets, or another address works. */
  readonly isPartial: boolean;
}

/** The reports of one end of a link, counted since the link is kept. */
interface End {
  /** Reports, with a result of the link or without. */
  reports: number;
  /** Results in a row that were Ok. */
  oks: number;
}

/** The measurement in one report of an agent. */
export interface Seen {
  readonly node: string;
  readonly plane: Plane;
  readonly peers: readonly PeerResult[];
  /** The least share of lost datagrams from which on a check calls a pair Lossy, percent. */
  readonly lossPercent: number;
  /** Whether a link to a node may be kept: a check judges both nodes. */
  readonly mayKeep: (node: string) => boolean;
}

/**
 * The links between nodes that did not work when they were last measured. The agents of both ends continue to probe them, in
 * addition to the rotation, so that a finding lasts as long as the fault, and both directions are known.
 *
 * | link | then |
 * |---|---|
 * | a report says that it fails, loses packets or loses large packets | kept, if both nodes have room |
 * | both ends were Ok in two reports in a row | forgotten |
 * | a report without a result of it, as of an agent that has just started | stays |
 * | a node has left, is left out, or no check selects both nodes | forgotten: see `forget` |
 *
 * It is in memory only. After a restart of the server, agents keep their peers until the first answer, and their first
 * reports show the links that still fail: see `FirstReports`.
 */
export class SuspectLinks {
  /** By node, and by the node at the other end. Each link has both entries. */
  readonly #planes: Readonly<Record<Plane, Map<string, Map<string, End>>>> = { Pod: new Map(), Host: new Map() };
  #size = 0;

  /** Number of links. */
  get size(): number {
    return this.#size;
  }

  /** The nodes that the agent of a node probes in addition to the rotation. */
  of(node: string, plane: Plane): readonly string[] {
    return [...(this.#planes[plane].get(node)?.keys() ?? [])];
  }

  /** Returns the peers of suspect links that its reports may not have a result of yet. */
  awaited(node: string, plane: Plane): readonly string[] {
    const ends = this.#planes[plane].get(node);
    return ends === undefined ? [] : [...ends].flatMap(([peer, end]) => (end.reports < AWAITED_REPORTS ? [peer] : []));
  }

  /** Keeps and forgets links by the results of a report. Call it with each report that has a measurement. */
  seen({ node, plane, peers, lossPercent, mayKeep }: Seen): void {
    const reported = reportedLinks(peers, lossPercent);
    for (const [peer, end] of this.#planes[plane].get(node) ?? []) {
      end.reports += 1;
      const quality = reported.get(peer)?.quality;
      if (quality !== undefined) end.oks = quality === 'Ok' ? end.oks + 1 : 0;
      if (this.#works(node, peer, plane)) this.#remove(node, peer, plane);
    }
    for (const [peer, link] of reported) {
      if (link.quality === 'Ok' || peer === node || this.#planes[plane].get(node)?.has(peer) === true) continue;
      if (this.#hasRoom(node, peer, plane, link) && mayKeep(peer)) this.#add(node, peer, plane);
    }
  }

  /** Forgets the links that may no longer be kept. */
  forget(mayKeep: (from: string, to: string, plane: Plane) => boolean): void {
    for (const plane of PLANES) {
      for (const [from, ends] of this.#planes[plane]) {
        for (const to of ends.keys()) if (from < to && !mayKeep(from, to, plane)) this.#remove(from, to, plane);
      }
    }
  }

  #works(node: string, peer: string, plane: Plane): boolean {
    const ends = [this.#planes[plane].get(node)?.get(peer), this.#planes[plane].get(peer)?.get(node)];
    return ends.every((end) => (end?.oks ?? 0) >= OK_REPORTS);
  }

  #hasRoom(node: string, peer: string, plane: Plane, { isPartial }: Reported): boolean {
    const share = isPartial ? MOST_PARTIAL : 1;
    const hasRoom = (one: string): boolean => (this.#planes[plane].get(one)?.size ?? 0) < MOST_LINKS_OF_NODE * share;
    return this.#size < MOST_LINKS * share && hasRoom(node) && hasRoom(peer);
  }

  #add(node: string, peer: string, plane: Plane): void {
    for (const [from, to] of [
      [node, peer],
      [peer, node],
    ] as const) {
      const ends = this.#planes[plane].get(from) ?? new Map<string, End>();
      this.#planes[plane].set(from, ends.set(to, { reports: 0, oks: 0 }));
    }
    this.#size += 1;
  }

  #remove(node: string, peer: string, plane: Plane): void {
    const links = this.#planes[plane];
    for (const [from, to] of [
      [node, peer],
      [peer, node],
    ] as const) {
      const ends = links.get(from);
      ends?.delete(to);
      if (ends?.size === 0) links.delete(from);
    }
    this.#size -= 1;
  }
}

/** Returns the nodes at the other ends of the links that do not work, as a report says. */
export function affectedNodes(peers: readonly PeerResult[], lossPercent: number): string[] {
  return [...reportedLinks(peers, lossPercent)].flatMap(([node, { quality }]) => (quality === 'Ok' ? [] : [node]));
}

/** Returns the state of each link in a report, by the node at the other end. */
function reportedLinks(peers: readonly PeerResult[], lossPercent: number): Map<string, Reported> {
  const found = new Map<string, Reported>();
  for (const peer of peers) {
    const quality = qualityOf(peer, { lossPercent, slowMs: MOST_SLOW_MS });
    const known = found.get(peer.node);
    const isPartial =
      known?.isPartial === true || isPartly(quality) || (known !== undefined && isMixed(known, quality));
    found.set(peer.node, { quality: known === undefined ? quality : worse(known.quality, quality), isPartial });
  }
  return found;
}

function isPartly(quality: Quality): boolean {
  return quality === 'Lossy' || quality === 'Slow';
}

/** Whether one address works, and another does not. */
function isMixed({ quality: known }: Reported, quality: Quality): boolean {
  return (known === 'Ok') !== (quality === 'Ok');
}

function worse(known: Quality, quality: Quality): Quality {
  return known === 'Ok' || (isPartly(known) && quality !== 'Ok') ? quality : known;
}
