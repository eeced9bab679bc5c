import { describe, expect, it } from 'vitest';
import { zoneOf, type StatedSet, type Zone } from './recordSets.ts';
import { verdictOf, type AskedRecord } from './verdict.ts';

const ASKED: AskedRecord = { host: 'web.example.org', type: 'A', clusterName: 'a' };
const set = (over: StatedSet = {}): StatedSet => {
  return { Name: 'web.example.org.', Type: 'A', SetIdentifier: 'b', Weight: 1, ...over };
};
const simple = (Type: string): StatedSet => set({ Type, SetIdentifier: undefined, Weight: undefined });
const zone = (...sets: StatedSet[]): Zone => zoneOf('Z1', sets);
const many = (count: number): StatedSet[] => Array.from({ length: count }, (_, n) => set({ SetIdentifier: `c${n}` }));
const verdict = (zones: readonly Zone[], type = 'A') => verdictOf(zones, { ...ASKED, type });

describe('nothing is in the way', () => {
  it.each<[string, StatedSet[], string]>([
    ['of a zone without records', [], 'A'],
    ['of other names', [set({ Name: 'other.example.org.', SetIdentifier: undefined })], 'A'],
    ['next to weighted records of other clusters', [set(), set({ SetIdentifier: 'c' })], 'A'],
    ['where the cluster has its own', [set({ SetIdentifier: 'a' }), set()], 'A'],
    ['next to a simple record of another type', [simple('AAAA')], 'A'],
    ['of a CNAME next to weighted aliases of other clusters', [set()], 'CNAME'],
    ['as one of 100', many(99), 'A'],
    ['where more than 100 were granted, of which one is its own', [...many(100), set({ SetIdentifier: 'a' })], 'A'],
  ])('%s', (_, sets, type) => {
    expect(verdict([zone(...sets)], type)).toEqual({ otherTtls: [] });
  });
});

describe('a record in the way', () => {
  const noWeighted = 'and Route 53 allows no weighted record next to it';
  it.each<[string, StatedSet[], string, string]>([
    [
      'is simple',
      [simple('A')],
      'A',
      `the zone Z1 has the A record web.example.org without a weight, ${noWeighted}: remove it, or give it a set identifier and a weight`,
    ],
    [
      'is a CNAME',
      [set({ Type: 'CNAME' })],
      'A',
      'the zone Z1 has the CNAME record web.example.org, and Route 53 allows no A record next to it',
    ],
    [
      'is a simple one next to a CNAME',
      [simple('AAAA')],
      'CNAME',
      'the zone Z1 has the AAAA record web.example.org, and Route 53 allows no CNAME record next to it',
    ],
    [
      'has another routing policy',
      [set({ SetIdentifier: 'eu', Weight: undefined })],
      'A',
      `in the zone Z1, the A record of web.example.org with the set identifier "eu" has another routing policy, ${noWeighted}`,
    ],
  ])('%s', (_, sets, type, problem) => {
    expect(verdict([zone(...sets)], type).refusal).toEqual({ reason: 'RecordInTheWay', problem });
  });
});

describe('a zone with 100 records of other clusters', () => {
  const problem = 'the zone Z1 has 100 weighted A records of web.example.org: Route 53 takes 100 at most';

  it('takes no other one', () => {
    expect(verdict([zone(...many(100))]).refusal).toEqual({ reason: 'TooManyRecords', problem });
  });

  it('takes none of a type either of which the cluster has another type', () => {
    const own = set({ Type: 'AAAA', SetIdentifier: 'a' });
    expect(verdict([zone(...many(100), own)]).refusal).toEqual({ reason: 'TooManyRecords', problem });
  });
});

describe('the TTLs of the other clusters', () => {
  it('are the distinct TTLs of the type, without aliases and 0', () => {
    const own = set({ SetIdentifier: 'a', TTL: 30 });
    const others = [set({ TTL: 300 }), set({ SetIdentifier: 'c', TTL: 300 }), set({ SetIdentifier: 'd', TTL: 0 })];
    const alias = set({ SetIdentifier: 'e' });
    const sets = [alias, own, ...others, set({ Type: 'AAAA', TTL: 20 })];
    expect(verdict([zone(...sets)])).toEqual({ otherTtls: [300] });
  });

  it('come from all zones of the host, also with a refusal', () => {
    const zones = [zone(set({ TTL: 300 })), zoneOf('Z2', [simple('A'), set({ TTL: 60 })])];
    expect(verdict(zones)).toMatchObject({ refusal: { reason: 'RecordInTheWay' }, otherTtls: [300, 60] });
  });
});

it('only the zones with the longest domain around a host count, as for external-dns', () => {
  const of = (id: string, domain: string, ...sets: StatedSet[]): Zone => {
    return zoneOf(id, [{ Name: `${domain}.`, Type: 'SOA' }, ...sets]);
  };
  const parent = of('Z1', 'org', simple('A'));
  const other = of('Z2', 'b.example.org', simple('A'));
  expect(verdict([parent, other, of('Z3', 'example.org')]).refusal).toBeUndefined();
  const both = [of('Z3', 'example.org'), of('Z4', 'example.org', simple('A'))];
  expect(verdict(both).refusal?.problem).toContain('the zone Z4');
});
