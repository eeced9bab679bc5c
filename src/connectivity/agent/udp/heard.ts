import { MOST_DATAGRAMS } from '../../protocol/limits.ts';
import type { Assignment } from '../../protocol/measurement.ts';

/** Nodes whose datagrams are counted. About as many nodes probe an agent as it probes; more names are forged. */
const MOST_NODES = 128;

/**
 * Counts the datagrams that came from other nodes since the last report. The peers of the assignment are always counted.
 * Other names may be made up, and get the places that are left: the server assigns both ends of a link that fails, so
 * made-up names do not hide its direction.
 */
export class Heard {
  #counts = new Map<string, number>();
  /** Nodes of the assignment: fewer than MOST_NODES. */
  #peers: ReadonlySet<string> = new Set();
  /** Addresses of the peers, as the system writes them. */
  #addresses: ReadonlySet<string> = new Set();

  /** Sets the peers of the assignment. */
  expect(peers: Assignment['peers']): void {
    this.#peers = new Set(peers.map(({ node }) => node));
    this.#addresses = new Set(peers.flatMap(({ addresses }) => addresses.map(asSystem)));
  }

  /** Whether an address, as the system writes it, belongs to a peer of the assignment. */
  isPeer(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** Counts datagrams, up to MOST_DATAGRAMS of a node. Beyond MOST_NODES, a peer replaces another node, and others are not counted. */
  add(node: string, count = 1): void {
    const before = this.#counts.get(node);
    if (before === undefined && this.#counts.size >= MOST_NODES && !this.#makesRoom(node)) return;
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

  #makesRoom(node: string): boolean {
    if (!this.#peers.has(node)) return false;
    const other = [...this.#counts.keys()].find((each) => !this.#peers.has(each));
    return other !== undefined && this.#counts.delete(other);
  }
}

/** An IP address as the system writes senders: IPv6 in the canonical form (RFC 5952). */
function asSystem(address: string): string {
  return address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
