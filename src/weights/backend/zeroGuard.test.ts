import { describe, expect, it } from 'vitest';
import { ALIVE_S, hasTraffic, mayGoToZero, needsSign, ownRow, type ClusterRow, type ClusterRows } from './zeroGuard.ts';

const { signal } = new AbortController();

interface Row {
  desired: number;
  current: number;
  isMarked: boolean;
  seenAt: number;
  /** The weight of the records. */
  applied: number;
}

/** A pseudo-random sequence (mulberry32): numbers below `most`. */
function randomOf(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

/** Clusters that each follow their row, one atomic step at a time, in an order by chance. */
class World {
  readonly rows: Row[];
  readonly #random: (most: number) => number;
  /** How many clusters may go to 0 whatever the others have: percent. */
  readonly #forced: number;
  #waiting: (() => void)[] = [];

  constructor(seed: number, forced = 0) {
    this.#random = randomOf(seed);
    this.#forced = forced;
    const rowOf = (weight: number): Row => ({
      desired: weight,
      current: weight,
      isMarked: weight === 0,
      seenAt: 0,
      applied: weight,
    });
    this.rows = Array.from({ length: 2 + this.#random(4) }, () => rowOf(this.#random(3) * 50));
    this.rows[0] = rowOf(100);
  }

  /** Runs so many steps. Resolves to the number of steps after which all records were 0. */
  async run(steps: number): Promise<number> {
    for (const row of this.rows) void this.#follow(row);
    let allZero = 0;
    for (let step = 0; step < steps; step += 1) {
      await Promise.resolve();
      if (this.#random(3) === 0) this.#change();
      const [next] = this.#waiting.splice(this.#random(this.#waiting.length), 1);
      next?.();
      for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
      if (this.rows.every(({ applied }) => applied === 0)) allZero += 1;
    }
    return allZero;
  }

  /** Lets every operator follow its row, without further changes. Resolves to the marked rows whose desired weight is above 0. */
  async settle(): Promise<Row[]> {
    for (let step = 0; step < 40 * this.rows.length; step += 1) {
      this.#waiting.splice(this.#random(this.#waiting.length), 1)[0]?.();
      for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    }
    return this.rows.filter(({ isMarked, desired }) => isMarked && desired > 0);
  }

  /** A person desires another weight. */
  #change(): void {
    const row = this.rows[this.#random(this.rows.length)]!;
    row.desired = this.#random(2) * 100;
  }

  #isKilled(): boolean {
    return this.#random(10) === 0;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Acts as an operator, without end: reads, goes to 0 if it may, applies, acknowledges. It may be killed at any of these steps;
   * its successor does not know the last weight of the cluster.
   */
  async #follow(row: Row): Promise<never> {
    const allowAllZero = this.#random(100) < this.#forced;
    let known: number | undefined = row.applied;
    for (;;) {
      await this.#turn();
      if (this.#isKilled()) known = undefined;
      const { weights, mustAsk } = ownRow(row, known);
      const { desired, current } = weights;
      if (mustAsk && !(await mayGoToZero(this.#rowsOf(row), allowAllZero, signal))) continue;
      if (this.#isKilled()) continue;
      known = desired;
      await this.#turn();
      row.applied = desired;
      await this.#turn();
      if (this.#isKilled()) continue;
      if (current === desired || row.desired !== desired) continue;
      row.current = desired;
      if (desired > 0) row.isMarked = false;
    }
  }

  #rowsOf(own: Row): ClusterRows {
    return {
      withTraffic: async () => {
        await this.#turn();
        return this.rows.flatMap((row, n) => (row !== own && hasTraffic(row, 0) ? [String(n)] : []));
      },
      markWithoutTraffic: async (other) => {
        await this.#turn();
        const holds = own.desired === 0 && (other === undefined || hasTraffic(this.rows[Number(other)]!, 0));
        if (holds) own.isMarked = true;
        return holds;
      },
    };
  }
}

describe('clusters that go to 0', () => {
  it(
    'leave one with traffic, in 10,000 states with changes and kills at the same time',
    { timeout: 300_000 },
    async () => {
      for (let seed = 0; seed < 10_000; seed += 1) expect(await new World(seed).run(60), `seed ${seed}`).toBe(0);
    },
  );

  it('leave no mark on one that has traffic again', { timeout: 300_000 }, async () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      const world = new World(seed);
      await world.run(60);
      expect(await world.settle(), `seed ${seed}`).toEqual([]);
    }
  });

  it('leave none if each is forced, and may leave none if one of them is', async () => {
    for (const forced of [100, 50]) {
      let allZero = 0;
      for (let seed = 0; seed < 100; seed += 1) allZero += await new World(seed, forced).run(60);
      expect(allZero, `${forced} %`).toBeGreaterThan(20);
    }
  });

  const rows = (
    others: readonly string[] | undefined,
    marked: (other: string | undefined) => boolean,
  ): ClusterRows => ({
    withTraffic: () => Promise.resolve(others),
    markWithoutTraffic: (other) => Promise.resolve(marked(other)),
  });

  it.each<[string, ClusterRows, boolean, boolean]>([
    ['one other has traffic', rows(['b'], () => true), false, true],
    ['the second other still has it', rows(['b', 'c'], (other) => other === 'c'), false, true],
    ['all others have lost it meanwhile', rows(['b', 'c'], () => false), false, false],
    ['no other has traffic', rows([], () => true), false, false],
    ['no other has traffic, which is allowed', rows([], () => true), true, true],
    ['the others may not be read', rows(undefined, (other) => other === undefined), false, true],
    ['another weight is desired by now', rows([], () => false), true, false],
  ])('may if %s', async (_, table, allowAllZero, wanted) => {
    expect(await mayGoToZero(table, allowAllZero, signal)).toBe(wanted);
  });
});

describe('the own row', () => {
  const row = (desired: number, current: number | undefined, isMarked = false): ClusterRow => ({
    desired,
    current,
    isMarked,
    seenAt: undefined,
  });

  it.each<[string, ClusterRow, number | undefined, ReturnType<typeof ownRow>]>([
    [
      'must ask for 0 with a known weight',
      row(0, 0),
      50,
      { weights: { desired: 0, current: 0 }, has: 50, mustAsk: true },
    ],
    [
      'must ask for 0 with a current weight',
      row(0, 50),
      undefined,
      { weights: { desired: 0, current: 50 }, has: 50, mustAsk: true },
    ],
    ['need not ask at 0', row(0, 50), 0, { weights: { desired: 0, current: 50 }, has: 0, mustAsk: false }],
    [
      'need not ask again on its way to 0',
      row(0, 50, true),
      undefined,
      { weights: { desired: 0, current: 50 }, has: 0, mustAsk: false },
    ],
    [
      'must ask again if its records have traffic',
      row(0, 50, true),
      50,
      { weights: { desired: 0, current: 50 }, has: 50, mustAsk: true },
    ],
    ['need not ask for more', row(75, 50), 50, { weights: { desired: 75, current: 50 }, has: 50, mustAsk: false }],
    [
      'tells no current weight with a mark that is left over',
      row(50, 50, true),
      undefined,
      { weights: { desired: 50, current: undefined }, has: 0, mustAsk: false },
    ],
    [
      'has nothing without a current weight',
      row(0, undefined),
      undefined,
      { weights: { desired: 0, current: undefined }, has: 0, mustAsk: false },
    ],
  ])('%s', (_, own, known, wanted) => expect(ownRow(own, known)).toEqual(wanted));
});

it.each<[boolean, Omit<ClusterRow, 'desired'>]>([
  [true, { current: 1, isMarked: false, seenAt: 10_000 - ALIVE_S + 1 }],
  [true, { current: 1, isMarked: false, seenAt: 10_100 }],
  [false, { current: 1, isMarked: false, seenAt: 10_000 - ALIVE_S }],
  [false, { current: 1, isMarked: false, seenAt: undefined }],
  [false, { current: 0, isMarked: false, seenAt: 10_000 }],
  [false, { current: undefined, isMarked: false, seenAt: 10_000 }],
  [false, { current: 100, isMarked: true, seenAt: 10_000 }],
])('counts as a cluster with traffic (%s): %o', (wanted, other) => expect(hasTraffic(other, 10_000)).toBe(wanted));

it.each([
  [undefined, true],
  [9_701, false],
  [9_700, true],
  [10_300, true],
])('a sign of life at %s is refreshed at 10,000: %s', (seenAt, wanted) => {
  expect(needsSign({ seenAt }, 10_000)).toBe(wanted);
});
