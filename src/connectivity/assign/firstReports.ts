import type { Plane } from '../../api/connectivitycheck/terms.ts';

/** The nodes that an agent names in its first report to this process. */
interface FirstReport {
  readonly peers: ReadonlySet<string>;
  /** The nodes among them at the other ends of links that do not work. */
  readonly affected: readonly string[];
  /** Monotonic, ms. */
  readonly at: number;
}

/**
 * Keeps what agents say in their first reports after a restart of the server, about nodes that this process has not assigned to them. The
 * process before may have: then the other agent names the sender as well, because both ends of a link that does not work probe it. What
 * only one agent says may be made up, and does not count.
 */
export class FirstReports {
  readonly #planes: Readonly<Record<Plane, Map<string, FirstReport>>> = { Pod: new Map(), Host: new Map() };

  /**
   * Adds the first report of an agent.
   *
   * @param peers the nodes that it names
   * @param affected the nodes of `peers` to which its links do not work
   * @param now of a clock that does not jump, ms
   * @returns the nodes of `peers` whose first reports name this node
   */
  add(node: string, plane: Plane, peers: readonly string[], affected: readonly string[], now: number): string[] {
    const reports = this.#planes[plane];
    reports.set(node, { peers: new Set(peers), affected, at: now });
    return peers.filter((peer) => reports.get(peer)?.peers.has(node) === true);
  }

  /**
   * Returns the nodes at the other ends of links that do not work, as the first report of an agent says. It goes on to probe them, so
   * that nothing is lost while the report of the other agent is to come.
   */
  affected(node: string, plane: Plane): readonly string[] {
    return this.#planes[plane].get(node)?.affected ?? [];
  }

  /** Forgets reports from before `time`. */
  forget(time: number): void {
    for (const reports of Object.values(this.#planes)) {
      for (const [node, { at }] of reports) if (at < time) reports.delete(node);
    }
  }
}
