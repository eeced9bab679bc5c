import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ReviewQueue } from './reviewQueue.ts';

const AT_A_TIME = 20;
/** Reviews that end while one is under way: each has a deadline. */
const LONGEST = 40;

/** A queue whose reviews begin and end as a test says. */
class Reviews {
  readonly #queue = new ReviewQueue();
  readonly #running: { readonly pod: string; readonly since: number; readonly end: () => void }[] = [];
  #ended = 0;
  /** Reviews that have begun. */
  begun = 0;
  refused = 0;
  readonly violations: string[] = [];

  /** Asks for a review, which must begin after at most this many others. */
  async ask(pod: string, source: string, mostOthers = Infinity): Promise<void> {
    const before = this.begun;
    const end = await this.#queue.enter({ pod, source });
    if (end === undefined) {
      this.refused += 1;
      if (mostOthers < Infinity) this.violations.push(`${pod} of ${source} was refused`);
      return;
    }
    const others = this.begun - before;
    this.begun += 1;
    if (others > mostOthers) this.violations.push(`${pod} of ${source} waited for ${others} others`);
    if (this.#running.some((each) => each.pod === pod)) this.violations.push(`two reviews of ${pod} at a time`);
    this.#running.push({ pod, since: this.#ended, end });
    if (this.#running.length > AT_A_TIME) this.violations.push(`${this.#running.length} reviews at a time`);
  }

  /** Ends one of the reviews that run: the oldest, if it has its deadline. */
  async endOne(choice: number): Promise<void> {
    const isLate = this.#ended - (this.#running[0]?.since ?? 0) >= LONGEST;
    const [one] = this.#running.splice(isLate ? 0 : choice % Math.max(1, this.#running.length), 1);
    this.#ended += 1;
    one?.end();
    await settle();
  }

  get isIdle(): boolean {
    return this.#running.length === 0;
  }
}

async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) await Promise.resolve();
}

const attack = fc.record({
  agents: fc.integer({ min: 1, max: 40 }),
  /** Addresses of all forgers. */
  addresses: fc.integer({ min: 1, max: 12 }),
  /** Tokens of each address before each end of a review. */
  tokens: fc.constantFrom(1, 3, 50),
  /** Forgers claim the first agents only: the fewer, the more often each. */
  claimed: fc.integer({ min: 1, max: 40 }),
  /** The agents begin to report after this many reviews have ended. */
  starts: fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 40, maxLength: 40 }),
  /** Which review ends. */
  ends: fc.array(fc.nat(19), { minLength: 30, maxLength: 30 }),
});

it('begins the review of each agent within a bound that depends on the number of sources only', async () => {
  await fc.assert(
    fc.asyncProperty(attack, async ({ agents, addresses, tokens, claimed, starts, ends }) => {
      const reviews = new Reviews();
      const sources = agents + addresses;
      // Each address that claims the pod may come first: its review takes its time, and has waited for a round.
      const most = (addresses + 1) * (sources + LONGEST);
      let next = 0;
      for (let step = 0; step < 61 + most; step++) {
        for (let address = 0; address < addresses; address++) {
          for (let n = 0; n < tokens; n++)
            void reviews.ask(`agent-${next++ % Math.min(claimed, agents)}`, `f${address}`);
        }
        for (let agent = 0; agent < agents; agent++) {
          if (starts[agent] === step) void reviews.ask(`agent-${agent}`, `a${agent}`, most);
        }
        await settle();
        await reviews.endOne(ends[step % ends.length]!);
      }
      while (!reviews.isIdle) await reviews.endOne(0);
      expect(reviews.violations).toEqual([]);
    }),
    { numRuns: 25, seed: 42 },
  );
});
