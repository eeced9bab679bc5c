import { MOST_DATAGRAMS } from '../../protocol/limits.ts';

/** Nodes whose datagrams are counted. About as many nodes probe an agent as it probes; more names are forged. */
const MOST_NODES = 128;

/** Counts the datagrams that came from other nodes since the last report. */
export class Heard {
  #counts = new Map<string, number>();

  /** Counts datagrams, up to MOST_DATAGRAMS of a node. A node beyond MOST_NODES is not counted. */
  add(node: string, count = 1): void {
    const before = this.#counts.get(node);
    if (before === undefined && this.#counts.size >= MOST_NODES) return;
    this.#counts.set(node, Math.min((before ?? 0) + count, MOST_DATAGRAMS));
  }

  /** Returns the counts by node, and starts from zero. */
  take(): Record<string, number> {
    const taken = Object.fromEntries(this.#counts);
    this.#counts = new Map();
    return taken;
  }

  /** Adds counts whose report did not get through, so that the next one has them. */
  restore(counts: Readonly<Record<string, number>>): void {
    for (const [node, count] of Object.entries(counts)) this.add(node, count);
  }
}
