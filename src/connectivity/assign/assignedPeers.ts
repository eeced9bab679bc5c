import { PLANES, type Plane } from '../../api/connectivitycheck/terms.ts';

/** Peers in a window at most: with 60 in each report, agents come and go in each of 16 reports. Then the next window begins. */
const MOST_PEERS = 1_000;

/** The peers that one agent was assigned. */
interface Assigned {
  /** Start of the window, by a clock that does not jump, ms. */
  since: number;
  /** All peers of the window. */
  peers: readonly string[];
  /** All peers of the window before. */
  before: readonly string[];
  /** Since when every assignment has had a peer, by the same clock; undefined: the last one had none. */
  busySince: number | undefined;
}

/**
 * The peers that agents were assigned lately. Peers rotate, and what an agent heard is of the time before its report, so
 * not only the last assignment counts: all of a window and of the one before it. It is in memory only: after a restart of
 * the server nothing is known of an agent before its first report.
 */
export class AssignedPeers {
  readonly #planes: Readonly<Record<Plane, Map<string, Assigned>>> = { Pod: new Map(), Host: new Map() };

  /**
   * Notes an assignment. Its cost does not depend on the number of agents.
   *
   * @param now of a clock that does not jump, ms
   * @param windowMs for how long at least an assignment counts
   */
  note(node: string, plane: Plane, peers: readonly string[], now: number, windowMs: number): void {
    const known = this.#planes[plane].get(node);
    const isBusy = peers.length > 0;
    if (known === undefined) {
      this.#planes[plane].set(node, { since: now, peers, before: [], busySince: isBusy ? now : undefined });
      return;
    }
    known.busySince = isBusy ? (known.busySince ?? now) : undefined;
    const added = peers.filter((peer) => !known.peers.includes(peer));
    if (added.length === 0) return;
    if (now - known.since < windowMs && known.peers.length + added.length <= MOST_PEERS) {
      known.peers = [...known.peers, ...added];
    } else {
      Object.assign(known, { since: now, peers, before: known.peers });
    }
  }

  /** Whether the agent of a node was assigned another node lately; undefined if it was assigned nothing yet. */
  of(node: string, plane: Plane): ((peer: string) => boolean) | undefined {
    const known = this.#planes[plane].get(node);
    return known && ((peer) => known.peers.includes(peer) || known.before.includes(peer));
  }

  /** Since when the agent of a node has had peers to probe, by the clock of `note`; undefined if its last assignment had none. */
  busySince(node: string, plane: Plane): number | undefined {
    return this.#planes[plane].get(node)?.busySince;
  }

  /** Forgets the agents of all other nodes. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const plane of PLANES) {
      for (const node of this.#planes[plane].keys()) if (!nodes.has(node)) this.#planes[plane].delete(node);
    }
  }
}
