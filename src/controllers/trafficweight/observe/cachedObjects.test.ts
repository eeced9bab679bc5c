import type { V1Ingress } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { BodyBudget, identityOf, isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { isOf, sourceUidOf } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { endpointKeyOf } from '../../../weights/records/source.ts';
import {
  costOfGateway,
  costOfListenerSet,
  identityOfEndpoint,
  identityOfIngress,
  servicesOf,
  toCachedEndpoint,
  toCachedIngress,
  trimSlice,
  identityOfGateway,
  identityOfRoute,
  servicesOfRoute,
  toCachedGateway,
  toCachedListenerSet,
  toCachedRoute,
} from './cachedObjects.ts';

const CONTROLLER = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', uid: 'u', controller: true };
const LABELS = { 'traffic.example.com/trafficweight': 'weight', other: 'x' };
const endpoint = (owner: object): DnsEndpoint => ({
  metadata: { namespace: 'shop', name: 'web', labels: LABELS, ownerReferences: [{ ...CONTROLLER, ...owner }] },
  spec: { endpoints: [{ dnsName: 'web.example.org', recordType: 'A', targets: ['198.18.0.1'] }] },
});

it('a DNSEndpoint of an Ingress is kept, also one that is left to it', () => {
  expect(toCachedEndpoint(endpoint({}))).toEqual(endpoint({}));
  expect(toCachedEndpoint(endpoint({ controller: false }))).toEqual(endpoint({ controller: false }));
});

it.each([
  [{}],
  [{ recordType: 'A', targets: ['198.18.0.1'] }],
  [{ dnsName: 'a.example.org', recordType: 'A' }],
  [{ dnsName: 7 }],
])('a record that lacks a field is left out: %j', (record) => {
  const whole = endpoint({});
  const forged = { ...whole, spec: { endpoints: [record, ...whole.spec!.endpoints!] } } as DnsEndpoint;
  expect(toCachedEndpoint(forged)).toEqual(whole);
});

it.each([[{ kind: 'Service' }], [{ kind: 'Service', controller: false }]])(
  'of one with the owner %j only its name is kept',
  (owner) => {
    const cached = toCachedEndpoint(endpoint(owner));
    expect(cached).toMatchObject({ metadata: { name: 'web', labels: {} } });
    expect([cached.spec, sourceUidOf(cached)]).toEqual([undefined, undefined]);
  },
);

it.each([
  ['that the operator wrote is kept', { 'traffic.example.com/applied-hash': 'x' }, 1],
  ['of others is reduced to its name, whatever its labels are', {}, undefined],
])('a DNSEndpoint without a controller %s', (_, annotations, records) => {
  const whole = endpoint({ controller: false });
  const orphan = { ...whole, metadata: { ...whole.metadata, annotations, ownerReferences: [] } };
  expect(toCachedEndpoint(orphan).spec?.endpoints?.length).toBe(records);
});

it('beyond the budget it is known of which source and of which TrafficWeight it is', () => {
  const cached = new BodyBudget(1).keep(endpoint({}), identityOfEndpoint);
  expect([isWithoutBody(cached), cached.spec]).toEqual([true, undefined]);
  expect(isOf(cached, { ...CONTROLLER, kind: 'Ingress' })).toBe(true);
  expect(cached.metadata?.labels).toEqual({ 'traffic.example.com/trafficweight': 'weight' });
});

describe('an Ingress', () => {
  const INGRESS: V1Ingress = {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { rules: [{ host: 'web.example.org' }] },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  };
  const PENDING: V1Ingress = { ...INGRESS, status: {} };

  it('leads to the load balancer, or to a name instead of it', () => {
    expect(toCachedIngress(INGRESS).source.targets).toEqual([{ recordType: 'A', targets: ['192.0.2.1'] }]);
    const named = [{ recordType: 'CNAME', targets: ['devmode'] }];
    expect(toCachedIngress(INGRESS, 'devmode').source.targets).toEqual(named);
    expect(toCachedIngress(PENDING, 'devmode').source.targets).toEqual(named);
  });

  it.each([
    ['none', {}, {}, undefined],
    ['the class of its spec', { ingressClassName: 'nginx' }, {}, 'nginx'],
    ['the class of the annotation, which is older', {}, { 'kubernetes.io/ingress.class': 'traefik' }, 'traefik'],
    [
      'the class of its spec, of both',
      { ingressClassName: 'nginx' },
      { 'kubernetes.io/ingress.class': 'traefik' },
      'nginx',
    ],
  ])('has as its class %s', (_, spec, annotations, wanted) => {
    const ingress: V1Ingress = { ...INGRESS, metadata: { ...INGRESS.metadata, annotations }, spec };
    expect(toCachedIngress(ingress).className).toBe(wanted);
  });
});

describe('an EndpointSlice', () => {
  function slice(endpoints: unknown): KubeObject {
    const labels = { 'kubernetes.io/service-name': 'web' };
    return { metadata: { name: 'web-1', namespace: 'shop', resourceVersion: '7', labels }, endpoints } as KubeObject;
  }

  it.each([
    ['an endpoint that is ready', [{ conditions: { ready: true } }], true],
    ['one of two', [{ conditions: { ready: false } }, { conditions: { ready: true } }], true],
    ['one of unknown readiness', [{ conditions: {} }], true],
    ['one without conditions', [{}], true],
    ['one that is not', [{ conditions: { ready: false } }], false],
    ['no endpoint', [], false],
    ['a null instead of the list', null, false],
  ])('with %s', (_, endpoints, isReady) => {
    expect(trimSlice(slice(endpoints))).toEqual({
      ...{ metadata: { name: 'web-1', namespace: 'shop', resourceVersion: '7' } },
      ...{ service: 'shop/web', isReady },
    });
  });

  it('of no Service belongs to none', () => {
    expect(trimSlice({ metadata: { name: 'x', namespace: 'shop' } }).service).toBeUndefined();
  });
});

it('each kind has a form without content, which the cache keeps of an object that cannot be parsed', () => {
  const bare: KubeObject = identityOf({ kind: 'Ingress', metadata: { namespace: 'shop', name: 'web' } });
  const ingress = identityOfIngress(toCachedIngress(bare));
  const route = identityOfRoute(toCachedRoute({ ...bare, kind: 'HTTPRoute' }));
  expect([endpointKeyOf(ingress.source), ingress.source.hosts, servicesOf(ingress)]).toEqual(['shop/web', [], []]);
  expect([route.route.source.name, servicesOfRoute(route)]).toEqual(['web', []]);
  expect(identityOfGateway(toCachedGateway({ ...bare, kind: 'Gateway' })).gateway.listeners).toEqual([]);
  expect(identityOfEndpoint(toCachedEndpoint(bare as DnsEndpoint)).metadata?.name).toBe('web');
});

it('each listener costs memory besides its text, since its host name is in an index', () => {
  const listener = { name: 'web', port: 80, protocol: 'HTTP' };
  const of = (count: number) => {
    const spec = { listeners: Array.from({ length: count }, () => listener) };
    return [
      costOfGateway(toCachedGateway({ spec } as object)),
      costOfListenerSet(toCachedListenerSet({ spec } as object)),
    ];
  };
  expect([of(0), of(64)]).toEqual([
    [0, 0],
    [19_200, 19_200],
  ]);
});
