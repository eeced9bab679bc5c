/** Bytes of echoed datagrams: forty runs at the same moment, each with a search for the MTU of 1,500, take 2.5 MB. */
const ALL: Rate = { burstBytes: 4 * 1024 * 1024, bytesPerSecond: 2 * 1024 * 1024 };
/**
 * The limit for one address: a run with the longest search for an MTU of 9,000 takes 0.9 MB. A flood from one address must
 * not look like packet loss to the others.
 */
const EACH: Rate = { burstBytes: 1024 * 1024, bytesPerSecond: 256 * 1024 };
/** Bytes that each datagram counts in addition to its own, for its CPU time: 2,000 small ones a second are a tenth of a core. */
const BYTES_EACH = 1_000;
/** Addresses whose use is remembered. More are forged, and the limit of all together holds for them. */
const MOST_ADDRESSES = 512;

interface Rate {
  readonly burstBytes: number;
  readonly bytesPerSecond: number;
}

/** Bounds the echo, so that nobody can make the agent busy or use it to flood others. */
export class EchoLimit {
  readonly #all = new TokenBucket(ALL);
  /** By the address of the sender; the one that sent last is the last. */
  readonly #each = new Map<string, TokenBucket>();

  /** @returns whether a datagram may be echoed. @param now monotonic time, ms */
  allows(address: string, bytes: number, now: number): boolean {
    const cost = bytes + BYTES_EACH;
    return this.#bucketOf(address).take(cost, now) && this.#all.take(cost, now);
  }

  #bucketOf(address: string): TokenBucket {
    const bucket = this.#each.get(address) ?? new TokenBucket(EACH);
    this.#each.delete(address);
    this.#each.set(address, bucket);
    const [oldest] = this.#each.keys();
    if (this.#each.size > MOST_ADDRESSES && oldest !== undefined) this.#each.delete(oldest);
    return bucket;
  }
}

class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #at: number | undefined;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.burstBytes;
  }

  /** Takes `cost` if there is as much. @returns whether it was taken. @param now monotonic time, ms */
  take(cost: number, now: number): boolean {
    const refill = ((now - (this.#at ?? now)) / 1_000) * this.#rate.bytesPerSecond;
    this.#left = Math.min(this.#left + refill, this.#rate.burstBytes);
    this.#at = now;
    if (this.#left < cost) return false;
    this.#left -= cost;
    return true;
  }
}
