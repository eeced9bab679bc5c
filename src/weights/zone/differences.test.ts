import { describe, expect, it } from 'vitest';
import type { DnsEndpoint } from '../records/endpoint.ts';
import { differencesIn, unmarkable } from './differences.ts';
import { zoneOf, type StatedSet } from './recordSets.ts';

const SOA: StatedSet = { Name: 'example.org.', Type: 'SOA' };
const written = (dnsName: string, weight: number, ...types: string[]): DnsEndpoint => ({
  spec: {
    endpoints: types.map((recordType) => ({
      ...{ dnsName, recordType, targets: ['x'], setIdentifier: 'a' },
      providerSpecific: [{ name: 'aws/weight', value: String(weight) }],
    })),
  },
});
const set = (host: string, Type: string, Weight?: number, SetIdentifier = 'a'): StatedSet => {
  return { Name: `${host}.`, Type, SetIdentifier, Weight };
};
const hows = (endpoint: DnsEndpoint, ...sets: StatedSet[]): string[] =>
  differencesIn([endpoint, undefined], [zoneOf('Z1', [SOA, ...sets])]).map(({ host, how }) => `${host}: ${how}`);
const WEB = 'web.example.org';

describe('a host', () => {
  it.each<[string, DnsEndpoint, StatedSet[]]>([
    ['has its weight', written(WEB, 0, 'CNAME'), [set(WEB, 'CNAME', 0), set(WEB, 'CNAME', 75, 'b')]],
    ['has its weight, as an alias', written(WEB, 0, 'CNAME'), [set(WEB, 'A', 0), set(WEB, 'AAAA', 0)]],
    ['has its weight in each type', written(WEB, 5, 'A', 'AAAA'), [set(WEB, 'A', 5), set(WEB, 'AAAA', 5)]],
    ['has no record, and should get no traffic', written(WEB, 0, 'CNAME'), [set(WEB, 'CNAME', 75, 'b')]],
    ['is compared as DNS compares names', written('Web.example.org', 5, 'A'), [set('WEB.example.org', 'A', 5)]],
  ])('%s', (_, endpoint, sets) => {
    expect(hows(endpoint, ...sets)).toEqual([]);
  });

  it.each<[string, DnsEndpoint, StatedSet[], string]>([
    ['has another weight', written(WEB, 0, 'CNAME'), [set(WEB, 'CNAME', 75)], 'has the weight 75 instead of 0'],
    ['has no policy', written(WEB, 0, 'A'), [set(WEB, 'A')], 'has no weight instead of 0'],
    [
      'has another weight in one type, and is named once',
      written(WEB, 0, 'A', 'AAAA'),
      [set(WEB, 'A', 75), set(WEB, 'AAAA', 75)],
      'has the weight 75 instead of 0',
    ],
    ['has an alias of another weight', written(WEB, 0, 'CNAME'), [set(WEB, 'A', 75)], 'has the weight 75 instead of 0'],
    ['has only another cluster’s', written(WEB, 5, 'A'), [set(WEB, 'A', 5, 'b')], 'has no A record of a'],
    ['misses a type', written(WEB, 5, 'A', 'AAAA'), [set(WEB, 'A', 5)], 'has no AAAA record of a'],
  ])('differs if it %s', (_, endpoint, sets, how) => {
    expect(hows(endpoint, ...sets)).toEqual([`${WEB}: the zone Z1 ${how}`]);
  });

  it('differs if no zone contains it', () => {
    expect(hows(written('web.example.com', 0, 'A'))).toEqual(['web.example.com: no zone of hostedZoneIDs contains it']);
  });

  it('differs if one of its zones differs', () => {
    const zones = [zoneOf('Z1', [SOA, set(WEB, 'A', 0)]), zoneOf('Z2', [SOA, set(WEB, 'A', 75)])];
    expect(differencesIn([written(WEB, 0, 'A')], zones)).toEqual([
      { host: WEB, how: 'the zone Z2 has the weight 75 instead of 0' },
    ]);
  });
});

const LONG = (length: number): string => `${'x'.repeat(length)}.example.org`;

describe('a host that external-dns cannot mark with its default flags', () => {
  it.each([
    ['the apex', 'example.org', 'CNAME', 'cname-example.org is not in the zone'],
    ['a long first label', LONG(58), 'CNAME', 'cname- and its first label have 64 characters, and DNS allows 63'],
    ['a long first label of a short type', LONG(62), 'A', 'a- and its first label have 64 characters'],
  ])('is named: %s', (_, host, type, why) => {
    const text = `external-dns cannot mark it with its default flags, since ${why}`;
    expect(unmarkable([written(host, 0, type)])).toEqual([{ host, how: expect.stringContaining(text) as string }]);
    expect(hows(written(host, 0, type), set(host, type, 75))[0]).toContain(`the weight 75 instead of 0; ${text}`);
  });

  it.each([LONG(57), '*.example.org', 'a.b.example.org'])('is not %s', (host) => {
    expect(unmarkable([written(host, 0, 'CNAME')])).toEqual([]);
  });
});
