import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { WorkQueue } from './workqueue.ts';

const running = new AbortController().signal;

/** Operations on a queue. `at` selects the key, or the worker that finishes. */
type Step = { do: 'add' | 'fail' | 'finish'; at: number } | { do: 'addAfter' | 'wait'; at: number; ms: number };

const at = fc.nat(3);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('add' as const, 'fail' as const, 'finish' as const), at }),
  fc.record({ do: fc.constantFrom('addAfter' as const, 'wait' as const), at, ms: fc.nat(20) }),
);

describe('with several workers and any sequence of operations', () => {
  it('never gives one key to two workers, and loses no addition', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const world = new World();
        for (const one of steps) await world.take(one);
        await world.finishAll();
        expect(world.shared).toEqual([]);
        expect(world.unseen).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

/** Three workers that process their key until a step finishes it. */
class World {
  readonly clock = new FakeClock();
  readonly queue = new WorkQueue({ clock: this.clock });
  readonly held: string[] = [];
  /** Keys that two workers had at the same time. */
  readonly shared: string[] = [];
  /** Added keys that no worker has taken since. */
  readonly #wanted = new Set<string>();

  constructor() {
    for (let worker = 0; worker < 3; worker++) void this.#fetch();
  }

  get unseen(): string[] {
    return [...this.#wanted];
  }

  async take(one: Step): Promise<void> {
    if (one.do === 'wait') await this.clock.advance(one.ms);
    else if (one.do === 'finish') this.#finish(one.at);
    else this.#add(one, `key-${one.at}`);
    await this.clock.advance(0);
  }

  async finishAll(): Promise<void> {
    await this.clock.advance(60_000);
    while (this.held.length > 0) {
      this.#finish(0);
      await this.clock.advance(0);
    }
  }

  #add(one: Step, key: string): void {
    this.#wanted.add(key);
    if (one.do === 'addAfter') this.queue.addAfter(key, one.ms);
    else if (one.do === 'fail') this.queue.addRateLimited(key);
    else this.queue.add(key);
  }

  #finish(index: number): void {
    const [key] = this.held.splice(index, 1);
    if (key !== undefined) {
      this.queue.done(key);
      void this.#fetch();
    }
  }

  async #fetch(): Promise<void> {
    const key = await this.queue.get(running);
    if (key === undefined) return;
    if (this.held.includes(key)) this.shared.push(key);
    this.held.push(key);
    this.#wanted.delete(key);
  }
}
