import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { NotLeaderError } from '../client/errors.ts';
import { Term } from './term.ts';
import { Electorate } from './testing/electors.ts';
import { FreezableClock } from '../testing/freezableClock.ts';

let electorate: Electorate;

beforeEach(() => {
  electorate = new Electorate();
});

describe('a process after SIGSTOP and SIGCONT', () => {
  it('knows that it no longer leads before any timer fires', async () => {
    const clock = new FreezableClock(electorate.clock);
    const a = await electorate.start('a', { clock });
    const { signal } = a.leadership();
    clock.wasFrozenFor(10_000);
    expect(() => a.elector.assertLeading()).toThrow(NotLeaderError);
    expect(signal.aborted).toBe(true);
    expect(a.elector.signal.aborted).toBe(true);
  });

  it('does not write the Lease as its leader', async () => {
    const clock = new FreezableClock(electorate.clock);
    const a = await electorate.start('a', { clock });
    electorate.server.replace({ holderIdentity: 'other', leaseDurationSeconds: 15 });
    clock.wasFrozenFor(30_000);
    const before = electorate.server.requests.length;
    await electorate.clock.advance(10_000);
    expect(electorate.server.requests.slice(before).map(({ method }) => method)).not.toContain('PUT');
    expect(a.elector.isLeader).toBe(false);
  });

  it('does not lead because of a late response to a renewal', async () => {
    const clock = new FreezableClock(electorate.clock);
    let answer: () => void = () => undefined;
    const transport = electorate.server.transport('a', clock);
    const request: typeof transport.request = async (r) => {
      if (electorate.server.writes.length === 1) await new Promise<void>((resolve) => (answer = resolve));
      return transport.request(r);
    };
    const a = await electorate.start('a', { clock, transport: { ...transport, request } });
    await electorate.clock.advance(2_000);
    clock.wasFrozenFor(30_000);
    answer();
    await electorate.clock.advance(0);
    expect(a.leadership().isLeader).toBe(false);
  });
});

describe('Term', () => {
  it('stays ended if the response to a successful renewal arrives after the deadline', () => {
    const clock = new FreezableClock(new FakeClock());
    const term = new Term(clock, clock.monotonic(), 10_000);
    clock.wasFrozenFor(12_000);
    term.renewed(8_000);
    expect(term.isLeader).toBe(false);
  });
});

/** An event at one of three processes, and the time until the next event. */
const mishap = fc.record({
  who: fc.nat(2),
  what: fc.constantFrom('refused', 'hangs', 'slow', 'answer lost', 'well', 'frozen', 'restarted'),
  ms: fc.integer({ min: 1, max: 20_000 }),
});
type Mishap = typeof mishap extends fc.Arbitrary<infer M> ? M : never;

describe('three processes whose clock rates differ by a tenth, with any failures', () => {
  it('never have two leaders, and have one when there are no failures', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mishap, { maxLength: 10 }), async (mishaps) => {
        const world = new World();
        await world.start();
        for (const one of mishaps) await world.suffer(one);
        await world.recover();
        expect(world.mostLeaders).toBe(1);
        expect(world.leaders()).toBe(1);
      }),
      { numRuns: 50 },
    );
  }, 30_000);
});

const RATES = [1, 1.1, 0.9];
const STEP_MS = 250;

class World {
  readonly #electorate = new Electorate();
  readonly #processes = RATES.map((rate, index) => {
    const ticks = new FakeClock();
    return { name: `${index}`, rate, ticks, clock: new FreezableClock(ticks), frozenMs: 0, isFrozen: false };
  });
  readonly #electors = new Map<string, Awaited<ReturnType<Electorate['start']>>>();
  #starts = 0;
  mostLeaders = 0;

  leaders(): number {
    const running = this.#processes.filter(({ isFrozen }) => !isFrozen);
    return running.filter(({ name }) => this.#electors.get(name)?.elector.isLeader).length;
  }

  async start(): Promise<void> {
    for (const { name } of this.#processes) await this.#startOne(name);
    await this.#pass(1_000);
  }

  async suffer({ who, what, ms }: Mishap): Promise<void> {
    const process = this.#processes[who]!;
    const { network } = this.#electorate.server;
    if (what === 'well') network.delete(process.name);
    else if (what === 'frozen') process.isFrozen = true;
    else if (what === 'restarted') await this.#restart(process.name);
    else network.set(process.name, what);
    await this.#pass(ms);
    this.#thaw();
  }

  async recover(): Promise<void> {
    this.#electorate.server.network.clear();
    await this.#pass(25_000);
  }

  async #pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      for (const process of this.#processes) {
        if (process.isFrozen) process.frozenMs += STEP_MS;
        else await process.ticks.advance(STEP_MS * process.rate);
      }
      this.mostLeaders = Math.max(this.mostLeaders, this.leaders());
    }
  }

  #thaw(): void {
    for (const process of this.#processes) {
      process.clock.wasFrozenFor(process.frozenMs * process.rate);
      Object.assign(process, { isFrozen: false, frozenMs: 0 });
    }
    this.mostLeaders = Math.max(this.mostLeaders, this.leaders());
  }

  async #restart(name: string): Promise<void> {
    this.#electors.get(name)?.stop();
    await this.#startOne(name);
  }

  async #startOne(name: string): Promise<void> {
    const { clock } = this.#processes.find((process) => process.name === name)!;
    const transport = this.#electorate.server.transport(name, clock);
    const elector = await this.#electorate.start(`${name}-${++this.#starts}`, { clock, transport });
    this.#electors.set(name, elector);
  }
}
