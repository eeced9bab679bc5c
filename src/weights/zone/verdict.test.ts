import { describe, expect, it } from 'vitest';
import { zoneOf, type StatedSet, type Zone } from './recordSets.ts';
import { verdictOf, type AskedRecords } from './verdict.ts';

const ASKED: AskedRecords = { host: 'web.example.org', types: ['A'], clusterName: 'a', ttl: 60 };
const set = (over: StatedSet = {}): StatedSet => {
  return { Name: 'web.example.org.', Type: 'A', SetIdentifier: 'b', Weight: 1, TTL: 60, ...over };
};
const simple = (Type: string): StatedSet => set({ Type, SetIdentifier: undefined, Weight: undefined });
const zone = (...sets: StatedSet[]): Zone => zoneOf('Z1', sets);
const many = (count: number): StatedSet[] => Array.from({ length: count }, (_, n) => set({ SetIdentifier: `c${n}` }));
const verdict = (zones: readonly Zone[], over: Partial<AskedRecords> = {}) => verdictOf(zones, { ...ASKED, ...over });

describe('nothing is in the way', () => {
  it.each<[string, StatedSet[], Partial<AskedRecords>]>([
    ['of a zone without records', [], {}],
    ['of other names', [set({ Name: 'other.example.org.', SetIdentifier: undefined })], {}],
    ['beside weighted records of other clusters', [set(), set({ SetIdentifier: 'c' })], {}],
    ['where the cluster has its own', [set({ SetIdentifier: 'a', TTL: 300 }), set()], {}],
    ['beside a simple record of another type', [simple('AAAA')], {}],
    ['beside an alias, which has the TTL of its target', [set({ TTL: undefined })], {}],
    ['of a CNAME beside weighted aliases of other clusters', [set({ TTL: undefined })], { types: ['CNAME'] }],
    ['as one of 100', many(99), {}],
    ['with 100, of which one is its own', [...many(99), set({ SetIdentifier: 'a' })], {}],
    ['where more than 100 were granted, of which one is its own', [...many(100), set({ SetIdentifier: 'a' })], {}],
    ['without an address', [simple('A')], { types: [] }],
  ])('%s', (_, sets, over) => {
    expect(verdict([zone(...sets)], over)).toEqual({});
  });
});

describe('a record in the way', () => {
  it.each<[string, StatedSet[], string[], string]>([
    [
      'is simple',
      [simple('A')],
      ['A'],
      'the zone Z1 has the A record web.example.org without a weight, and no weighted one goes beside it: remove it, or give it a set identifier and a weight',
    ],
    [
      'is a CNAME',
      [set({ Type: 'CNAME' })],
      ['A'],
      'the zone Z1 has the CNAME record web.example.org, and no A record goes beside it',
    ],
    [
      'is a simple one beside a CNAME',
      [simple('AAAA')],
      ['CNAME'],
      'the zone Z1 has the AAAA record web.example.org, and no CNAME record goes beside it',
    ],
    [
      'has another routing policy',
      [set({ SetIdentifier: 'eu', Weight: undefined })],
      ['A'],
      'in the zone Z1, the A record of web.example.org with the set identifier "eu" has another routing policy, and no weighted one goes beside it',
    ],
    [
      'is of the second type that is asked for',
      [simple('AAAA')],
      ['A', 'AAAA'],
      'the zone Z1 has the AAAA record web.example.org without a weight, and no weighted one goes beside it: remove it, or give it a set identifier and a weight',
    ],
  ])('%s', (_, sets, types, problem) => {
    expect(verdict([zone(...sets)], { types })).toEqual({ refusal: { reason: 'RecordInTheWay', problem } });
  });

  it('is in any of the zones', () => {
    const zones = [zone(set({ TTL: 300 })), zoneOf('Z2', [simple('A')])];
    expect(verdict(zones).refusal?.problem).toContain('the zone Z2 has');
  });
});

it('a zone with 100 records of other clusters takes no other one', () => {
  const problem = 'the zone Z1 has 100 weighted A records of web.example.org: Route 53 takes 100 at most';
  expect(verdict([zone(...many(100))])).toEqual({ refusal: { reason: 'TooManyRecords', problem } });
});

it('the TTL of the other clusters is taken, for each type', () => {
  const sets = [
    set({ SetIdentifier: 'alias', TTL: undefined }),
    set({ TTL: 300 }),
    set({ Type: 'AAAA', TTL: 60 }),
    set({ SetIdentifier: 'a', TTL: 60 }),
  ];
  expect(verdict([zone(...sets)], { types: ['A', 'AAAA'] })).toEqual({
    otherTtls: new Map([['A', 300]]),
    ttlProblem:
      'the A record of "b" in the zone Z1 has a TTL of 300 s, and all clusters need the same: 300 s is taken in place of 60 s',
  });
});
