import { describe, expect, it } from 'vitest';
import type { DnsEndpoint } from '../records/endpoint.ts';
import type { Targets } from '../records/source.ts';
import { NO_ZONES, publishedOf, verdictOf, type KnownZones, type AskedRecord } from './published.ts';
import { zoneOf, type StatedSet, type Zone } from './recordSets.ts';

const HOST = 'web.example.org';
const A: Targets = { recordType: 'A', targets: ['192.0.2.1'] };
const AAAA: Targets = { recordType: 'AAAA', targets: ['2001:db8::1'] };
const simple = (Type: string): StatedSet => ({ Name: `${HOST}.`, Type, TTL: 300 });
const weighted = (Type: string, TTL: number): StatedSet => ({ ...simple(Type), SetIdentifier: 'b', Weight: 1, TTL });
const known = (...zones: StatedSet[][]): KnownZones => {
  return { ...NO_ZONES, zones: zones.map((sets, n) => zoneOf(`Z${n + 1}`, sets)) };
};
const written = (recordTTL: number, ...types: string[]): DnsEndpoint => {
  const endpoints = types.map((recordType) => ({ dnsName: 'Web.example.org', recordType, targets: ['x'], recordTTL }));
  return { spec: { endpoints } };
};
/** Returns the published records, such as `A 60`, and the reason if they differ from the requested records. */
function published(zones: KnownZones, targets: readonly Targets[], endpoint?: DnsEndpoint): string[] {
  const settings = { clusterName: 'a', recordTtl: 60 };
  const { targets: left, problem } = publishedOf({ host: HOST, targets, settings }, endpoint, zones);
  return [...left.map(({ recordType, ttl }) => `${recordType} ${ttl}`), ...(problem ? [problem.reason] : [])];
}

describe('a record', () => {
  it.each<[string, KnownZones, readonly Targets[], DnsEndpoint | undefined, string[]]>([
    ['of which no zone is known is as asked for', NO_ZONES, [A], written(300, 'A'), ['A 60']],
    ['that would be refused is left out', known([simple('A')]), [A], undefined, ['RecordInTheWay']],
    [
      'of another type is written all the same',
      known([simple('AAAA')]),
      [A, AAAA],
      undefined,
      ['A 60', 'RecordInTheWay'],
    ],
    [
      'of a new type is left out next to one that was written',
      known([simple('AAAA')]),
      [A, AAAA],
      written(60, 'A'),
      ['A 60', 'RecordInTheWay'],
    ],
    [
      'that was written stays, with the TTL of the others',
      known([weighted('A', 300), simple('AAAA')]),
      [A, AAAA],
      written(300, 'A', 'AAAA'),
      ['A 300', 'AAAA 60', 'DifferentTTL'],
    ],
    [
      'of which the others have another TTL gets it',
      known([weighted('A', 300)]),
      [A],
      undefined,
      ['A 300', 'DifferentTTL'],
    ],
    ['of which the others have the same', known([weighted('A', 60)]), [A], written(300, 'A'), ['A 60']],
    [
      'has the TTL of each type',
      known([weighted('A', 300)], [weighted('AAAA', 20)]),
      [A, AAAA],
      undefined,
      ['A 300', 'AAAA 20', 'DifferentTTL'],
    ],
    [
      'of which two zones have different TTLs stays',
      known([weighted('A', 300)], [weighted('A', 60)]),
      [A],
      undefined,
      ['A 60', 'DifferentTTL'],
    ],
  ])('%s', (_, zones, targets, endpoint, wanted) => {
    expect(published(zones, targets, endpoint)).toEqual(wanted);
  });

  it('has its TTL in a message', () => {
    const settings = { clusterName: 'a' };
    const { problem } = publishedOf({ host: HOST, targets: [A], settings }, undefined, known([weighted('A', 60)]));
    expect(problem?.problem).toBe(
      'the other clusters have the A record of web.example.org with a TTL of 60 s, and all need the same: uses 60 s instead of 300 s',
    );
  });
});

describe('while a zone is being read for the first time', () => {
  const pending: KnownZones = { zones: [], pending: ['Z1'], isComplete: false };

  it('a new record waits, and one that was written keeps its TTL', () => {
    expect(published(pending, [A, AAAA], written(300, 'A'))).toEqual(['A 300', 'ZoneNotRead']);
  });
});

describe('while a zone cannot be read, and never was', () => {
  const unread: KnownZones = { zones: [], pending: [], isComplete: false };

  it('a new record is written as asked for, and one that was written keeps its TTL', () => {
    expect(published(unread, [A, AAAA], written(300, 'A'))).toEqual(['A 300', 'AAAA 60']);
  });
});

const ELB = 'web.elb.eu-west-1.amazonaws.com';
const ASKED: AskedRecord = { host: 'web.example.org', type: 'A', target: ELB, clusterName: 'a' };
const set = (over: StatedSet = {}): StatedSet => {
  return { Name: 'web.example.org.', Type: 'A', SetIdentifier: 'b', Weight: 1, ...over };
};
const simpleSet = (Type: string): StatedSet => set({ Type, SetIdentifier: undefined, Weight: undefined });
const zone = (...sets: StatedSet[]): Zone => zoneOf('Z1', sets);
const many = (count: number): StatedSet[] => Array.from({ length: count }, (_, n) => set({ SetIdentifier: `c${n}` }));
/** @param record its type, and its target if it is not the name of an ELB */
const verdict = (zones: readonly Zone[], record = 'A') => {
  const [type = '', target = ELB] = record.split(' to ');
  return verdictOf(zones, { ...ASKED, type, target });
};

describe('nothing is in the way', () => {
  it.each<[string, StatedSet[], string]>([
    ['of a zone without records', [], 'A'],
    ['of other names', [set({ Name: 'other.example.org.', SetIdentifier: undefined })], 'A'],
    ['next to weighted records of other clusters', [set(), set({ SetIdentifier: 'c' })], 'A'],
    ['where the cluster has its own', [set({ SetIdentifier: 'a' }), set()], 'A'],
    ['next to a simple record of another type', [simpleSet('AAAA')], 'A'],
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
      [simpleSet('A')],
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
      [simpleSet('AAAA')],
      'CNAME',
      'the zone Z1 has the AAAA record web.example.org, and Route 53 allows no CNAME record next to it',
    ],
    [
      'is a weighted one of another cluster next to a CNAME that is no alias',
      [set()],
      'CNAME to lb.example.net',
      'the zone Z1 has the A record web.example.org, and Route 53 allows no CNAME record next to it',
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

describe('DNS allows no', () => {
  const of = (host: string, type: string, target: string, domain = 'example.org') =>
    verdictOf([zoneOf('Z1', [{ Name: `${domain}.`, Type: 'SOA' }])], { ...ASKED, host, type, target }).refusal;

  it.each([
    ['CNAME to itself', HOST, 'CNAME', 'Web.example.org.', 'the load balancer has the name web.example.org'],
    ['CNAME at the apex of a zone', HOST, 'CNAME', 'lb.example.net', 'web.example.org is the apex of its zone', HOST],
    ['CNAME at what must be an apex', 'example.net', 'CNAME', 'lb.example.net', 'example.net is the apex of its zone'],
    ['label of 64 characters', `${'x'.repeat(64)}.example.org`, 'A', '', 'has 64 characters: DNS allows 63'],
  ])('%s', (_, host, type, target, problem, domain?) => {
    expect(of(host, type, target, domain)).toMatchObject({
      ...{ reason: 'NotPublishable', problem: expect.stringContaining(problem) as string },
    });
  });

  it.each([
    ['an alias at the apex', 'example.org', 'CNAME', ELB],
    ['addresses at the apex', 'example.org', 'A', '192.0.2.1'],
    ['a CNAME of a wildcard', '*.example.org', 'CNAME', 'lb.example.net'],
  ])('but %s', (_, host, type, target) => {
    expect(of(host, type, target)).toBeUndefined();
  });
});

describe('a zone that delegates', () => {
  const ns = (Name: string): StatedSet => ({ Name, Type: 'NS' });
  const zoneWith = (...names: string[]): Zone =>
    zoneOf('Z1', [{ Name: 'example.org.', Type: 'SOA' }, ns('example.org.'), ...names.map(ns)]);

  it.each([
    ['the host', 'web.example.org.'],
    ['a name around it', 'a.example.org.'],
  ])('%s, has no effect', (_, name) => {
    const host = name.startsWith('web') ? HOST : 'web.a.example.org';
    expect(verdictOf([zoneWith(name)], { ...ASKED, host }).refusal).toEqual({
      reason: 'Delegated',
      problem:
        `the zone Z1 delegates ${name.slice(0, -1)} to other name servers, so that ${host} has no effect in it: ` +
        `name the hosted zone of ${name.slice(0, -1)} in hostedZoneIDs`,
    });
  });

  it('other names, or whose delegated zone is read, takes the record', () => {
    const child = zoneOf('Z2', [{ Name: 'a.example.org.', Type: 'SOA' }]);
    expect(verdictOf([zoneWith('b.example.org.', 'eb.example.org.')], ASKED).refusal).toBeUndefined();
    expect(
      verdictOf([zoneWith('a.example.org.'), child], { ...ASKED, host: 'web.a.example.org' }).refusal,
    ).toBeUndefined();
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
    const zones = [zone(set({ TTL: 300 })), zoneOf('Z2', [simpleSet('A'), set({ TTL: 60 })])];
    expect(verdict(zones)).toMatchObject({ refusal: { reason: 'RecordInTheWay' }, otherTtls: [300, 60] });
  });
});

it('only the zones with the longest domain around a host count, as for external-dns', () => {
  const of = (id: string, domain: string, ...sets: StatedSet[]): Zone => {
    return zoneOf(id, [{ Name: `${domain}.`, Type: 'SOA' }, ...sets]);
  };
  const parent = of('Z1', 'org', simpleSet('A'));
  const other = of('Z2', 'b.example.org', simpleSet('A'));
  expect(verdict([parent, other, of('Z3', 'example.org')]).refusal).toBeUndefined();
  const both = [of('Z3', 'example.org'), of('Z4', 'example.org', simpleSet('A'))];
  expect(verdict(both).refusal?.problem).toContain('the zone Z4');
});
