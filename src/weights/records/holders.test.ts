import { expect, it, describe } from 'vitest';
import type { DnsEndpoint } from './endpoint.ts';
import { holders, shareRecord, withSharedHosts, type Claim } from './holders.ts';
import { endpointKeyOf, type Source, type SourceHost } from './source.ts';

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

function written(of: Claim): Claim {
  return {
    ...of,
    endpoint: { ...of.endpoint!, metadata: { annotations: { 'traffic.example.com/applied-hash': 'x' } } },
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
    'the one whose records the operator wrote, if both have it',
    [claim('a', {}, [HOST]), written(claim('b', { createdAt: NEW }, [HOST]))],
    'shop/b',
  ],
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
  [
    'that namespace, though an older one has records of it, too',
    [claim('a', {}, [HOST]), claim('b', { createdAt: NEW, namespace: 'team' }, [HOST])],
    'team/b',
  ],
  ['the oldest, if that namespace no longer asks for it', [claim('a'), claim('b', { createdAt: NEW })], 'shop/a'],
])('a host that the namespace team had is of %s', (_, claims, wanted) => {
  for (const order of [claims, [...claims].reverse()]) {
    const holder = holders(order, new Map([[HOST, 'team']])).get(HOST);
    expect(holder && endpointKeyOf(holder)).toBe(wanted);
  }
});

it.each<[string, Claim, string]>([
  ['nobody else has records of', claim('b', { createdAt: NEW, namespace: 'team' }), 'shop/a'],
  ['a selected one has records of, too', claim('b', { createdAt: NEW, namespace: 'team' }, [HOST]), 'team/b'],
])('records that nobody plans keep a host that %s', (_, other, wanted) => {
  const left = { ...claim('a', {}, [HOST]), kind: 'Leftover' } as const;
  const before = new Map([[HOST, 'shop']]);
  for (const order of [
    [left, other],
    [other, left],
  ]) {
    for (const known of [new Map<string, string>(), before]) {
      const holder = holders(order, known).get(HOST);
      expect(holder && endpointKeyOf(holder)).toBe(wanted);
    }
  }
});

it('a host outside of the domain is of none', () => {
  expect(holders([{ ...claim('a'), settings: { ...SETTINGS, bindingDomain: 'example.com' } }])).toEqual(new Map());
});

const A = [{ recordType: 'A' as const, targets: ['192.0.2.1'] }];
const B = [{ recordType: 'A' as const, targets: ['192.0.2.2'] }];
const host = (name: string, services: string[], leadsNowhere = false): SourceHost => ({
  host: name,
  services,
  leadsNowhere,
});
const route = (namespace: string, hosts: SourceHost[], targets = A, kind: Source['kind'] = 'HTTPRoute'): Source => ({
  ...{ kind, apiVersion: '', namespace, name: 'web', uid: '', createdAt: '', annotations: {} },
  ...{ hosts, targets },
});

describe('sources with one host and the same addresses', () => {
  it('have what all of their namespace lead to', () => {
    const sources = [
      route('shop', [host('a', []), host('b', ['b'])]),
      route('infra', [host('a', ['auth', 'api'], true)]),
      route('shop', [host('a', ['web', 'infra/auth'])]),
      route('infra', [host('a', ['late'])]),
    ];
    expect(withSharedHosts(sources).map(({ hosts }) => hosts)).toEqual([
      [host('a', ['infra/auth', 'web']), host('b', ['b'])],
      [host('a', ['api', 'auth', 'late'], true)],
      [host('a', ['infra/auth', 'web'])],
      [host('a', ['api', 'auth', 'late'], true)],
    ]);
  });

  it('are joined once, however many there are', () => {
    const read = { hosts: 0 };
    const counting = (n: number): SourceHost => ({
      ...host('a', []),
      get services() {
        read.hosts += 1;
        return [`s${n}`];
      },
    });
    withSharedHosts(Array.from({ length: 2_000 }, (_, n) => route('shop', [counting(n)])));
    expect(read.hosts).toBe(2_000);
  });

  it('with other addresses do not', () => {
    const routes = [route('shop', [host('a', ['web'])]), route('shop', [host('a', ['api'])], B)];
    expect(withSharedHosts(routes)).toEqual(routes);
  });

  it('share a record; also before they have an address', () => {
    expect(shareRecord(route('shop', []), route('infra', []), true)).toBe(true);
    expect(shareRecord(route('shop', []), route('infra', [], []), true)).toBe(true);
    expect(shareRecord(route('shop', []), route('infra', [], B), true)).toBe(false);
    expect(shareRecord(route('shop', [], A, 'Ingress'), route('infra', []), true)).toBe(true);
  });

  it('share none, if one is an Ingress that is not selected', () => {
    expect(shareRecord(route('shop', []), route('infra', []), false)).toBe(true);
    expect(shareRecord(route('shop', [], A, 'Ingress'), route('infra', []), false)).toBe(false);
  });
});
