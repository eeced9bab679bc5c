import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../runtime/process/clock.ts';
import type { Facts } from '../observation.ts';
import { Sightings } from './sightings.ts';

let clock: FakeClock;
let sightings: Sightings;

beforeEach(() => {
  clock = new FakeClock();
  sightings = new Sightings(clock);
});

const facts = (available: readonly string[], settled: Record<string, string> = {}): Facts => ({
  available: new Map(available.map((name) => [name, ''])),
  settled: new Map(Object.entries(settled)),
  awaiting: new Map(),
});
const seen = (stack = 'main') => {
  const { available, settled } = sightings.of(stack);
  return Object.fromEntries([...available, ...settled].map(([name, { at }]) => [name, at]));
};

describe('the time of a fact', () => {
  it('is when it was seen first, until it ends', async () => {
    const begin = clock.monotonic();
    sightings.record('main', facts(['web']));
    await clock.advance(5);
    sightings.record('main', facts(['web', 'db']));
    expect(seen()).toEqual({ web: begin, db: begin + 5 });
    sightings.record('main', facts(['db']));
    await clock.advance(5);
    sightings.record('main', facts(['web', 'db']));
    expect(seen()).toEqual({ web: begin + 10, db: begin + 5 });
  });

  it('begins again with another state or revision', async () => {
    sightings.record('main', facts([], { web: 'Ready r1', db: 'Ready r1' }));
    const begin = clock.monotonic();
    await clock.advance(5);
    sightings.record('main', facts([], { web: 'Ready r1', db: 'Ready r2' }));
    expect(seen()).toEqual({ web: begin, db: begin + 5 });
  });

  it('is of one stack, and is forgotten with it', () => {
    sightings.record('main', facts(['web']));
    expect(seen('other')).toEqual({});
    sightings.forget('main');
    expect(seen()).toEqual({});
  });
});
