import { expect, it } from 'vitest';
import type { DnsEndpoint } from './endpoint.ts';
import { holders, type Claim } from './holders.ts';
import { endpointKeyOf } from './source.ts';
import type { Source } from './source.ts';

const HOST = 'app.example.org';
const SETTINGS = {
  ...{ clusterName: 'cluster-a', bindingDomain: 'example.org' },
  ...{ annotationPrefix: 'dns.adevinta.com', clusterWeight: 80 },
};
const OLD = '2026-01-01T00:00:00Z';
const NEW = '2026-01-02T00:00:00Z';

function claim(name: string, over: Partial<Source> = {}, records: readonly string[] = []): Claim {
  const source: Source = {
    ...{ kind: 'Ingress', apiVersion: 'networking.k8s.io/v1', namespace: 'shop', name, uid: name, createdAt: OLD },
    annotations: {},
    hosts: [{ host: HOST, services: ['web'], leadsNowhere: false }],
    targets: [{ recordType: 'CNAME', targets: ['lb.example.net'] }],
    ...over,
  };
  return { source, settings: SETTINGS, endpoint: records.length === 0 ? undefined : endpointWith(records) };
}

function endpointWith(hosts: readonly string[]): DnsEndpoint {
  const providerSpecific = [{ name: 'aws/weight', value: '80' }];
  return {
    spec: { endpoints: hosts.map((dnsName) => ({ dnsName, targets: [], recordType: 'CNAME', providerSpecific })) },
  };
}

const INVALID = { annotations: { 'dns.adevinta.com/traffic-weight': 'NaN' } };

it.each([
  ['the oldest', [claim('b', { createdAt: NEW }), claim('c')], 'shop/c'],
  ['the first by name, of the same age', [claim('b'), claim('a')], 'shop/a'],
  ['the oldest with an address', [claim('a', { targets: [] }), claim('b', { createdAt: NEW })], 'shop/b'],
  ['the oldest with a valid annotation', [claim('a', INVALID), claim('b', { createdAt: NEW })], 'shop/b'],
  ['the oldest whose annotation was valid', [claim('a', INVALID, [HOST]), claim('b', { createdAt: NEW })], 'shop/a'],
  [
    'the one that has it, though an older one asks for it',
    [claim('a'), claim('b', { createdAt: NEW }, ['App.Example.org.'])],
    'shop/b',
  ],
  ['the oldest if both have it', [claim('a', {}, [HOST]), claim('b', { createdAt: NEW }, [HOST])], 'shop/a'],
  [
    'the oldest if the newer one has a different host',
    [claim('a'), claim('b', { createdAt: NEW }, ['b.example.org'])],
    'shop/a',
  ],
])('a host of several Ingresses is of %s', (_, claims, wanted) => {
  for (const order of [claims, [...claims].reverse()]) {
    const holder = holders(order).get(HOST);
    expect(holder && endpointKeyOf(holder)).toBe(wanted);
  }
});

it.each<[string, Claim[], string]>([
  ['the namespace that had it', [claim('a'), claim('b', { createdAt: NEW, namespace: 'team' })], 'team/b'],
  [
    'the one whose records are there, also of another namespace',
    [claim('a', {}, [HOST]), claim('b', { createdAt: NEW, namespace: 'team' })],
    'shop/a',
  ],
  ['the oldest, if that namespace no longer asks for it', [claim('a'), claim('b', { createdAt: NEW })], 'shop/a'],
])('a host that the namespace team had is of %s', (_, claims, wanted) => {
  for (const order of [claims, [...claims].reverse()]) {
    const holder = holders(order, new Map([[HOST, 'team']])).get(HOST);
    expect(holder && endpointKeyOf(holder)).toBe(wanted);
  }
});

it('a host outside of the domain is of none', () => {
  expect(holders([{ ...claim('a'), settings: { ...SETTINGS, bindingDomain: 'example.com' } }])).toEqual(new Map());
});
