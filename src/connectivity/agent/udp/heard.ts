/** Nodes whose datagrams are counted. About as many nodes probe an agent as it probes; more names are forged. */
const MOST_NODES = 128;

/** Counts the datagrams that came from other nodes since the last report. */
export class Heard {
  #counts = new Map<string, number>();

  /** Counts a datagram. A node beyond MOST_NODES is not counted. */
  add(node: string, count = 1): void {
    const before = this.#counts.get(node);
    if (before === undefined && this.#counts.size >= MOST_NODES) return;
    this.#counts.set(node, (before ?? 0) + count);
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

/** Bytes of echoed datagrams: forty runs at the same moment, each with a search for the MTU of 1,500, take 2.5 MB. */
const BURST_BYTES = 4 * 1024 * 1024;
const BYTES_PER_SECOND = 2 * 1024 * 1024;
/** What a datagram costs beside its bytes: 2,000 small ones a second are a tenth of a core. */
const BYTES_EACH = 1_000;

/** Bounds the echo, so that nobody can make the agent busy or use it to flood others. A token bucket of bytes. */
export class EchoLimit {
  #left = BURST_BYTES;
  #at: number | undefined;

  /** @returns whether a datagram may be echoed. @param now monotonic time, ms */
  allows(bytes: number, now: number): boolean {
    const refill = ((now - (this.#at ?? now)) / 1_000) * BYTES_PER_SECOND;
    this.#left = Math.min(this.#left + refill, BURST_BYTES);
    this.#at = now;
    const cost = bytes + BYTES_EACH;
    if (this.#left < cost) return false;
    this.#left -= cost;
    return true;
  }
}
