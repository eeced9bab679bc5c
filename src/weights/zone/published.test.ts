import { describe, expect, it } from 'vitest';
import type { DnsEndpoint } from '../records/endpoint.ts';
import type { Targets } from '../records/targets.ts';
import { NO_ZONES, publishedOf, type KnownZones } from './published.ts';
import { zoneOf, type StatedSet } from './recordSets.ts';

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
