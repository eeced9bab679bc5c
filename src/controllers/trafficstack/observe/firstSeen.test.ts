import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { Facts } from '../model/observation.ts';
import { FirstSeen } from './firstSeen.ts';

let clock: FakeClock;
let firstSeen: FirstSeen;

beforeEach(() => {
  clock = new FakeClock();
  firstSeen = new FirstSeen(clock);
});

const facts = (available: readonly string[], stable: Record<string, string> = {}): Facts => ({
  available: new Map(available.map((name) => [name, ''])),
  stable: new Map(Object.entries(stable)),
  awaiting: new Map(),
});
const seen = (stack = 'main') => {
  const { available, stable } = firstSeen.of(stack);
  return Object.fromEntries([...available, ...stable].map(([name, { at }]) => [name, at]));
};

describe('the time of a fact', () => {
  it('is when it was seen first, until it ends', async () => {
    const begin = clock.monotonic();
    firstSeen.record('main', facts(['web']));
    await clock.advance(5);
    firstSeen.record('main', facts(['web', 'db']));
    expect(seen()).toEqual({ web: begin, db: begin + 5 });
    firstSeen.record('main', facts(['db']));
    await clock.advance(5);
    firstSeen.record('main', facts(['web', 'db']));
    expect(seen()).toEqual({ web: begin + 10, db: begin + 5 });
  });

  it('begins again with another state or revision', async () => {
    firstSeen.record('main', facts([], { web: 'Ready r1', db: 'Ready r1' }));
    const begin = clock.monotonic();
    await clock.advance(5);
    firstSeen.record('main', facts([], { web: 'Ready r1', db: 'Ready r2' }));
    expect(seen()).toEqual({ web: begin, db: begin + 5 });
  });

  it('is of one stack, and is forgotten with it', () => {
    firstSeen.record('main', facts(['web']));
    expect(seen('other')).toEqual({});
    firstSeen.forget('main');
    expect(seen()).toEqual({});
  });
});
