import { expect, it } from 'vitest';
import { zoneOf } from './recordSets.ts';

it('has the record sets that lead to an address, by host', () => {
  const zone = zoneOf('Z1', [
    { Name: 'example.org.', Type: 'NS', TTL: 172_800 },
    { Name: 'cname-web.example.org.', Type: 'TXT', SetIdentifier: 'a', Weight: 1, TTL: 300 },
    { Name: 'Web.example.org.', Type: 'CNAME', SetIdentifier: 'a', Weight: 0, TTL: 60 },
    { Name: 'web.example.org.', Type: 'CNAME', SetIdentifier: 'b', Weight: 5, TTL: 60 },
    { Name: 'alias.example.org.', Type: 'A' },
    { Name: 'near.example.org.', Type: 'AAAA', SetIdentifier: 'eu', TTL: 60 },
  ]);
  expect(zone.id).toBe('Z1');
  expect(Object.fromEntries(zone.sets)).toEqual({
    'web.example.org': [
      { type: 'CNAME', setIdentifier: 'a', weight: 0, ttl: 60 },
      { type: 'CNAME', setIdentifier: 'b', weight: 5, ttl: 60 },
    ],
    'alias.example.org': [{ type: 'A' }],
    'near.example.org': [{ type: 'AAAA', setIdentifier: 'eu', ttl: 60 }],
  });
});

it('counts a record set once that two pages have', () => {
  const set = { Name: 'web.example.org.', Type: 'A', SetIdentifier: 'a', Weight: 1 };
  expect(zoneOf('Z1', [set, { ...set, SetIdentifier: 'b' }, { ...set }]).sets.get('web.example.org')).toHaveLength(2);
});

it.each([
  ['\\052.example.org.', '*.example.org'],
  ['a\\057b.example.org.', 'a/b.example.org'],
])('reads the name %s', (name, host) => {
  expect([...zoneOf('Z1', [{ Name: name, Type: 'A' }]).sets.keys()]).toEqual([host]);
});
