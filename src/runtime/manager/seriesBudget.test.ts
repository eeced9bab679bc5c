import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { IN_MEMORY_MS, SeriesBudget, seriesBudgets, type SeriesLimits } from './seriesBudget.ts';

const LIMITS = { ofOwner: 10, ofAll: 40 };

let clock: FakeClock;
let leftOut: number;
let warned: unknown[];

beforeEach(() => {
  clock = new FakeClock();
  leftOut = NaN;
  warned = [];
});

function budgetOf(limits: SeriesLimits = LIMITS): SeriesBudget {
  const warn = (fields: { owner: string }): void => void warned.push(fields.owner);
  const logger = { child: () => ({ warn }) } as unknown as Parameters<typeof seriesBudgets>[0]['logger'];
  const metrics = { seriesLeftOut: (_kind: string, count: number) => void (leftOut = count) };
  return seriesBudgets({ clock, logger, metrics })('test', limits);
}

/** Shows one series, named as its object. @returns whether it has a place */
const shows = (budget: SeriesBudget, object: string, owner = 'shop'): boolean =>
  budget.show(object, [{ owner, id: 'a' }]).size > 0;
const many = (count: number, owner = 'shop') => Array.from({ length: count }, (_, i) => ({ owner, id: `n${i}` }));

describe('names that come and go', () => {
  it('get as many series within three hours as the owner may have, however many there are', async () => {
    const budget = budgetOf();
    let placed = 0;
    for (let name = 0; name < 5_000; name += 1) {
      if (shows(budget, `web-${name}`)) placed += 1;
      budget.forget(`web-${name}`);
      await clock.advance(1_000);
    }
    expect(placed).toBe(LIMITS.ofOwner);
    expect(leftOut).toBe(0);
  });

  it('get a place again when Prometheus has forgotten the earlier ones', async () => {
    const budget = budgetOf();
    budget.show('web', many(LIMITS.ofOwner));
    budget.forget('web');
    await clock.advance(IN_MEMORY_MS - 1);
    expect(shows(budget, 'new')).toBe(false);
    await clock.advance(1);
    expect(shows(budget, 'new')).toBe(true);
  });

  it('have their place at once if they had it within three hours', () => {
    const budget = budgetOf();
    budget.show('web', many(LIMITS.ofOwner));
    budget.forget('web');
    expect(budget.show('web', many(LIMITS.ofOwner)).size).toBe(LIMITS.ofOwner);
  });

  it('keep the place of a series that lasts, also after three hours', async () => {
    const budget = budgetOf();
    budget.show('web', many(LIMITS.ofOwner));
    await clock.advance(2 * IN_MEMORY_MS);
    expect(shows(budget, 'new')).toBe(false);
    expect(budget.show('web', many(LIMITS.ofOwner)).size).toBe(LIMITS.ofOwner);
  });
});

describe('an owner', () => {
  it('does not take the places of another owner', () => {
    const budget = budgetOf();
    for (let name = 0; name < 5_000; name += 1) shows(budget, `web-${name}`);
    expect(budget.show('other', many(LIMITS.ofOwner, 'bank')).size).toBe(LIMITS.ofOwner);
  });

  it('leaves places for a further one, however many there are', () => {
    const budget = budgetOf({ ofOwner: 100, ofAll: 100 });
    for (const owner of ['a', 'b', 'c']) budget.show(owner, many(1_000, owner));
    expect(budget.show('d', many(5, 'd')).size).toBe(5);
  });

  it('is named in the log once within three hours', async () => {
    const budget = budgetOf({ ofOwner: 1, ofAll: 1_000 });
    for (let name = 0; name < 50; name += 1) shows(budget, `web-${name}`);
    expect(warned).toEqual(['shop']);
    await clock.advance(IN_MEMORY_MS);
    shows(budget, 'web-1');
    expect(warned).toEqual(['shop', 'shop']);
  });

  it('is one of at most a hundred in the log within three hours', () => {
    const budget = budgetOf({ ofOwner: 0, ofAll: 0 });
    for (let owner = 0; owner < 500; owner += 1) shows(budget, 'web', `shop-${owner}`);
    expect(warned).toHaveLength(100);
  });
});

describe('the series of an object', () => {
  it('are placed in their order, and the others are counted while they are wanted', () => {
    const budget = budgetOf();
    expect([...budget.show('web', many(LIMITS.ofOwner + 3))]).toEqual(many(LIMITS.ofOwner).map(({ id }) => id));
    expect(leftOut).toBe(3);
    shows(budget, 'api');
    expect(leftOut).toBe(4);
    budget.forget('web');
    expect(leftOut).toBe(1);
    budget.forget('api');
    expect(leftOut).toBe(0);
  });
});

interface Step {
  wanted: { owner: string; ids: number[] }[];
  object: string;
  wait: number;
}
const STEP: fc.Arbitrary<Step> = fc.record({
  object: fc.constantFrom('a', 'b', 'c'),
  wanted: fc.array(fc.record({ owner: fc.constantFrom('x', 'y', 'z'), ids: fc.array(fc.nat(9), { maxLength: 8 }) }), {
    maxLength: 3,
  }),
  wait: fc.nat(IN_MEMORY_MS),
});

it('never has more different series within three hours than the limits, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
      const limits = { ofOwner: 5, ofAll: 9 };
      const budget = budgetOf(limits);
      /** Series that were shown, and until when: they are in the memory of Prometheus three hours longer. */
      const last = new Map<string, number>();
      const shown = new Map<string, string[]>();
      /** Like Prometheus: a series that is shown now has a sample now. */
      const note = (): void => {
        for (const key of [...shown.values()].flat()) last.set(key, clock.monotonic());
      };
      for (const { object, wanted, wait } of steps) {
        note();
        const list = wanted.flatMap(({ owner, ids }) => ids.map((id) => ({ owner, id: `${owner}${id}` })));
        const placed = budget.show(object, list);
        shown.set(
          object,
          list.filter(({ id }) => placed.has(id)).map(({ owner, id }) => `${owner} ${object} ${id}`),
        );
        note();
        const since = clock.monotonic() - IN_MEMORY_MS;
        const inMemory = [...last].filter(([, at]) => at > since).map(([key]) => key);
        expect(inMemory.length).toBeLessThanOrEqual(limits.ofAll);
        for (const owner of ['x', 'y', 'z']) {
          expect(inMemory.filter((key) => key.startsWith(owner)).length).toBeLessThanOrEqual(limits.ofOwner);
        }
        await clock.advance(wait);
      }
    }),
    { numRuns: 100 },
  );
});
