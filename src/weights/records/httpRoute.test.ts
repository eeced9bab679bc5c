import { describe, expect, it } from 'vitest';
import type { Condition } from '../../runtime/controller/conditions.ts';
import { gatewayOf, TakenListeners } from '../gateway/gateway.ts';
import type { Gateway, HttpRoute } from '../gateway/gatewayApi.ts';
import { routeOf, sourceOfRoute } from './httpRoute.ts';

type Rules = NonNullable<HttpRoute['spec']>['rules'];
type Parents = NonNullable<HttpRoute['status']>['parents'];
type Listeners = NonNullable<Gateway['spec']>['listeners'];

const said = (type: string, status: 'True' | 'False'): Condition => ({
  ...{ type, status, reason: 'Test', message: '', lastTransitionTime: '' },
});
const ACCEPTED = [said('Accepted', 'True'), said('ResolvedRefs', 'True')];
const ALL = { namespaces: { from: 'All' } };
const parent = (over: object = {}, conditions = ACCEPTED) => ({ parentRef: { name: 'public', ...over }, conditions });

const ROOM = {
  listenersOf: (...of: ConstructorParameters<typeof TakenListeners>) => new TakenListeners(...of),
  hasRoom: () => true,
};

/** A route in the namespace `shop`, and what becomes of it. */
function sourceOf(
  over: { hostnames?: string[]; rules?: Rules; parents?: Parents },
  gateways: Readonly<Record<string, Gateway>> = { 'shop/public': gateway() },
) {
  const { hostnames = ['web.example.org'], rules = [{ backendRefs: [{ name: 'web' }] }], parents = [parent()] } = over;
  const metadata = { namespace: 'shop', name: 'web', uid: 'u1', annotations: { a: 'b' } };
  const parentRefs = parents.map(({ parentRef }) => parentRef);
  const route = routeOf({ metadata, spec: { hostnames, rules, parentRefs }, status: { parents } });
  const gatewayAt = ({ key }: { readonly key: string }) => gateways[key] && gatewayOf(gateways[key]);
  const around = { matches: () => false, ...ROOM, endpoint: () => undefined, now: 0 };
  return sourceOfRoute(route, { gatewayAt, ...around }).source;
}

function gateway(
  listeners: Listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: ALL }],
  value = '192.0.2.1',
  type?: string,
): Gateway {
  const addresses = [{ value, ...(type !== undefined && { type }) }];
  const spec = { gatewayClassName: 'public', listeners };
  return { metadata: { namespace: 'shop' }, spec: spec, status: { addresses } };
}

const hostsOf = (source: ReturnType<typeof sourceOf>): string[] => source.hosts.map(({ host }) => host);

it('a route has its hosts, its Services, and the addresses of its Gateway', () => {
  expect(sourceOf({ hostnames: ['web.example.org', '*.Example.net'] })).toEqual({
    ...{ kind: 'HTTPRoute', apiVersion: 'gateway.networking.k8s.io/v1' },
    ...{ namespace: 'shop', name: 'web', uid: 'u1', createdAt: '', annotations: { a: 'b' } },
    hosts: [
      { host: '*.example.net', services: ['web'], leadsNowhere: false },
      { host: 'web.example.org', services: ['web'], leadsNowhere: false },
    ],
    targets: [{ recordType: 'A', targets: ['192.0.2.1'] }],
  });
});

describe('addresses', () => {
  it.each([
    ['IPAddress', '2001:db8::1', [{ recordType: 'AAAA', targets: ['2001:db8::1'] }]],
    ['Hostname', 'lb.example.net', [{ recordType: 'CNAME', targets: ['lb.example.net'] }]],
    ['example.com/other', 'x', []],
  ])('of the type %s', (type, value, targets) => {
    expect(sourceOf({}, { 'shop/public': gateway(undefined, value, type) }).targets).toEqual(targets);
  });

  it('come from all Gateways that have accepted the route, and from no other', () => {
    const gateways = {
      'shop/public': gateway(),
      'infra/b': gateway(undefined, '192.0.2.2'),
      'shop/c': gateway(undefined, '192.0.2.3'),
    };
    const parents = [
      parent(),
      parent({ namespace: 'infra', name: 'b' }),
      parent({ name: 'c' }, [said('Accepted', 'False')]),
      parent({ name: 'c', group: '', kind: 'Service' }),
      parent({ name: 'unknown' }),
    ];
    expect(sourceOf({ parents }, gateways).targets).toEqual([{ recordType: 'A', targets: ['192.0.2.1', '192.0.2.2'] }]);
  });
});

describe('hosts that a route and a listener have in common', () => {
  it.each<[string[], string | undefined, string[]]>([
    [['a.example.org'], undefined, ['a.example.org']],
    [['a.example.org'], '*.example.org', ['a.example.org']],
    [['a.b.example.org'], '*.example.org', ['a.b.example.org']],
    [['*.example.org'], 'a.example.org', ['a.example.org']],
    [['*.a.example.org'], '*.example.org', ['*.a.example.org']],
    [['example.org'], '*.example.org', []],
    [['evilexample.org'], '*.example.org', []],
    [['a.example.net', 'a.example.org'], 'a.example.org', ['a.example.org']],
    [[], '*.example.org', ['*.example.org']],
    [[], undefined, []],
  ])('%j and %s: %j', (hostnames, hostname, hosts) => {
    const listener = { name: 'http', port: 80, protocol: 'HTTP', ...(hostname !== undefined && { hostname }) };
    expect(hostsOf(sourceOf({ hostnames }, { 'shop/public': gateway([listener]) }))).toEqual(hosts);
  });

  it('come from the listener that the route names', () => {
    const listeners = [
      { name: 'one', port: 80, protocol: 'HTTP', hostname: 'one.example.org' },
      { name: 'two', port: 443, protocol: 'HTTPS', hostname: 'two.example.org' },
    ];
    const hosts = (over: object) =>
      hostsOf(sourceOf({ hostnames: [], parents: [parent(over)] }, { 'shop/public': gateway(listeners) }));
    expect([hosts({}), hosts({ sectionName: 'two' }), hosts({ port: 80 }), hosts({ port: 1 })]).toEqual([
      ['one.example.org', 'two.example.org'],
      ['two.example.org'],
      ['one.example.org'],
      [],
    ]);
  });
});

it('hosts do not come from a listener that serves something else, or other namespaces', () => {
  const elsewhere: Gateway = {
    ...gateway([{ name: 'http', port: 80, protocol: 'HTTP' }]),
    metadata: { namespace: 'infra' },
  };
  const parents = [parent({ namespace: 'infra' })];
  expect(hostsOf(sourceOf({ parents }, { 'infra/public': elsewhere }))).toEqual([]);
  const listeners = [
    { name: 'tls', port: 443, protocol: 'TLS', hostname: 'db.example.org' },
    { name: 'http', port: 80, protocol: 'HTTP', hostname: 'web.example.org' },
  ];
  expect(hostsOf(sourceOf({ hostnames: [] }, { 'shop/public': gateway(listeners) }))).toEqual(['web.example.org']);
});

it('a parent that the route no longer has does not count', () => {
  const route = routeOf({
    metadata: { namespace: 'shop', name: 'web' },
    spec: { hostnames: ['web.example.org'], parentRefs: [{ name: 'public', sectionName: 'https' }] },
    status: { parents: [parent(), parent({ sectionName: 'https' })] },
  });
  expect(route.parents).toMatchObject([{ key: 'shop/public', sectionName: 'https', isAccepted: true }]);
});

it('a parent does not count if one of several controllers has refused the route', () => {
  const parents = [parent(), parent({}, [said('Accepted', 'False')]), parent({ sectionName: 'http' })];
  const route = routeOf({
    metadata: { namespace: 'shop', name: 'web' },
    spec: { parentRefs: parents.map(({ parentRef }) => parentRef) },
    status: { parents },
  });
  const accepted = route.parents.filter(({ isAccepted }) => isAccepted);
  expect(accepted).toMatchObject([{ key: 'shop/public', sectionName: 'http' }]);
});

it('names the parents that have neither accepted nor refused the route', () => {
  const experimental = { group: 'gateway.networking.x-k8s.io', kind: 'XListenerSet' };
  const parentRefs = [{ name: 'public' }, { name: 'gone' }, { kind: 'ListenerSet', name: 'a' }];
  const spec = {
    parentRefs: [...parentRefs, { ...experimental, name: 'b' }, { group: '', kind: 'Service', name: 'c' }],
  };
  const route = routeOf({ metadata: { namespace: 'shop', name: 'web' }, spec });
  const gatewayAt = ({ key }: { readonly key: string }) => (key === 'shop/public' ? gatewayOf(gateway()) : undefined);
  const around = { gatewayAt, matches: () => false, ...ROOM, endpoint: () => undefined, now: 0 };
  expect(sourceOfRoute(route, around).openParents).toEqual([
    'Gateway shop/gone does not exist',
    'Gateway shop/public has neither accepted nor refused it',
    'ListenerSet shop/a or its Gateway does not exist',
    'XListenerSet shop/b is of an experimental API, which is not read: make it a ListenerSet of gateway.networking.k8s.io/v1',
  ]);
});

describe('what answers for a host', () => {
  it.each<[string, Rules, { services: string[]; leadsNowhere: boolean }]>([
    [
      'all Services',
      [{ backendRefs: [{ name: 'b' }, { name: 'a', weight: 5 }] }, { backendRefs: [{ name: 'a' }] }],
      { services: ['a', 'b'], leadsNowhere: false },
    ],
    [
      'none that gets no traffic',
      [{ backendRefs: [{ name: 'a' }, { name: 'b', weight: 0 }] }],
      { services: ['a'], leadsNowhere: false },
    ],
    [
      'a Service of another namespace',
      [
        {
          backendRefs: [
            { name: 'a', namespace: 'other' },
            { name: 'b', namespace: 'shop' },
          ],
        },
      ],
      { services: ['b', 'other/a'], leadsNowhere: false },
    ],
    [
      'another kind, of which nothing is known',
      [{ backendRefs: [{ group: 'multicluster.x-k8s.io', kind: 'ServiceImport', name: 'a' }] }],
      { services: [], leadsNowhere: false },
    ],
    ['a redirect', [{ filters: [{ type: 'RequestRedirect' }] }], { services: [], leadsNowhere: false }],
    ['an extension', [{ filters: [{ type: 'ExtensionRef' }] }], { services: [], leadsNowhere: false }],
    ['a name that no Service can have', [{ backendRefs: [{ name: 'other/a' }] }], { services: [], leadsNowhere: true }],
    ['nothing', [{ backendRefs: [{ name: 'a' }] }, {}], { services: ['a'], leadsNowhere: true }],
    [
      'only backends that get no traffic',
      [{ backendRefs: [{ name: 'a', weight: 0 }] }],
      { services: [], leadsNowhere: true },
    ],
  ])('%s', (_, rules, expected) => {
    expect(sourceOf({ rules }).hosts).toEqual([{ host: 'web.example.org', ...expected }]);
  });

  it('nothing, if the Gateway could not resolve the backends', () => {
    const conditions = [ACCEPTED[0]!, said('ResolvedRefs', 'False')];
    expect(sourceOf({ parents: [parent({}, conditions)] }).hosts[0]?.leadsNowhere).toBe(true);
  });
});
