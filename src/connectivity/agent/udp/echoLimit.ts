import { TokenBuckets, type Allowance } from '../../../runtime/async/limit.ts';
import type { Clock } from '../../../runtime/process/clock.ts';

/** Bytes of echoed datagrams, with those for peers. */
const ALL: Allowance = { burst: 6 * 1024 * 1024, perSecond: 2 * 1024 * 1024 };
/**
 * Bytes of ALL that only peers of the assignment may use, so that a flood from many other addresses does not look like
 * packet loss to them. Forty runs at the same moment, each with a search for the MTU of 1,500, take 2.5 MB in seconds.
 */
const KEPT_FOR_PEERS = 2 * 1024 * 1024;
/**
 * The limit for one address: a run with the longest search for an MTU of 9,000 takes 0.9 MB. A flood from one address must
 * not look like packet loss to the others.
 */
const EACH: Allowance = { burst: 1024 * 1024, perSecond: 256 * 1024 };
/** Bytes that each datagram counts in addition to its own, for its CPU time: 2,000 small ones a second are a tenth of a core. */
const BYTES_EACH = 1_000;
/** Addresses whose use is remembered. More are forged, and the limit of all together holds for them. */
const MOST_ADDRESSES = 512;

/** Bounds the echo, so that nobody can make the agent busy or use it to flood others. */
export class EchoLimit {
  readonly #all: TokenBuckets;
  /** By the address of the sender. */
  readonly #each: TokenBuckets;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#all = new TokenBuckets(clock);
    this.#each = new TokenBuckets(clock, { mostKeys: MOST_ADDRESSES });
  }

  /** @returns whether a datagram may be echoed. @param isPeer whether the address belongs to a peer of the assignment */
  allows(address: string, bytes: number, isPeer: boolean): boolean {
    const cost = bytes + BYTES_EACH;
    return this.#each.take(address, EACH, 0, cost) && this.#all.take('', ALL, isPeer ? 0 : KEPT_FOR_PEERS, cost);
  }
}
