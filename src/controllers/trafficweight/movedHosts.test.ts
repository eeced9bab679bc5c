import { describe, expect, it } from 'vitest';
import type { V1Ingress } from '@kubernetes/client-node';
import type { DnsEndpoint } from '../../weights/records/endpoint.ts';
import type { HttpRoute } from '../../weights/gateway/gatewayApi.ts';
import { toCachedEndpoint } from './observe/cachedObjects.ts';
import { decide, gateway, HOST, ingress, records, route, written, type World } from './testing/world.ts';

const GATEWAYS = [gateway('public', { address: '192.0.2.9' })];
const from = (over: object = {}): V1Ingress => ingress('team-a', { age: 2, ...over });
const to = (over: object = {}): HttpRoute => route('team-a', { name: 'new', age: 3, ...over });

/** The DNSEndpoint as the garbage collector leaves it: without the references to deleted objects; undefined if none is left. */
function collected(
  endpoint: DnsEndpoint,
  present: readonly { metadata?: { uid?: string } }[],
): DnsEndpoint | undefined {
  const uids = present.map(({ metadata }) => metadata?.uid);
  const ownerReferences = endpoint.metadata?.ownerReferences?.filter(({ uid }) => uids.includes(uid)) ?? [];
  return ownerReferences.length === 0
    ? undefined
    : { ...endpoint, metadata: { ...endpoint.metadata, ownerReferences } };
}

/** The records after each step of a move: the new object is there, the old one is deleted, and the plan after that. */
function move(
  old: World,
  both: World,
  after: World,
): { waiting: object; collected: object; moved: object; removed: number } {
  const all = { gateways: GATEWAYS };
  const first = written({ ...all, ...old });
  const second = written({ ...all, ...both, endpoints: first });
  const objects = [...(after.ingresses ?? []), ...(after.routes ?? [])] as V1Ingress[];
  const endpoints = second.flatMap((each) => collected(each, objects) ?? []).map(toCachedEndpoint);
  const dnsNames = endpoints.flatMap(({ spec }) => spec?.endpoints ?? []).map(({ dnsName }) => dnsName);
  const last = { ...all, ...after, endpoints };
  return {
    waiting: records({ ...all, ...both, endpoints: first }),
    collected: dnsNames,
    moved: records(last),
    removed: decide(last).removed.length,
  };
}

describe('a host that moves to another object of its namespace never leaves the DNS', () => {
  const [INGRESS, ROUTE] = ['192.0.2.1 75', '192.0.2.9 75'];

  it.each<[string, World, World, World, string, string]>([
    [
      'from an Ingress to an HTTPRoute',
      { ingresses: [from()] },
      { ingresses: [from()], routes: [to()] },
      { routes: [to()] },
      INGRESS,
      ROUTE,
    ],
    [
      'from an HTTPRoute to an Ingress',
      { routes: [to()] },
      { ingresses: [from()], routes: [to()] },
      { ingresses: [from()] },
      ROUTE,
      INGRESS,
    ],
    [
      'from an Ingress to a second Ingress with the same address',
      { ingresses: [from()] },
      { ingresses: [from(), from({ name: 'b' })] },
      { ingresses: [from({ name: 'b' })] },
      INGRESS,
      INGRESS,
    ],
  ])('%s', (_, old, both, after, before, then) => {
    expect(move(old, both, after)).toEqual({
      waiting: { [HOST]: before },
      collected: [HOST],
      moved: { [HOST]: then },
      removed: 1,
    });
  });
});

it('a DNSEndpoint has one other owner at most: the oldest that could have a host of it', () => {
  const others = [
    to({ age: 5 }),
    to({ name: 'older', age: 4 }),
    to({ name: 'invalid', age: 1, annotations: { 'dns.adevinta.com/traffic-weight': 'x' } }),
  ];
  const [first] = written({ ingresses: [from()], gateways: GATEWAYS });
  const world = {
    ingresses: [from()],
    routes: [...others, route('team-b', { age: 1 })],
    gateways: GATEWAYS,
    endpoints: [first!],
  };
  expect(written(world)[0]?.metadata?.ownerReferences?.map(({ uid, controller }) => [uid, controller])).toEqual([
    ['team-a-web', true],
    ['team-a-older', undefined],
  ]);
});

it('a DNSEndpoint that is left to an HTTPRoute stays until a Gateway has accepted the route, and with another owner in any case', () => {
  const [first] = written({ ingresses: [from()], routes: [to()], gateways: GATEWAYS });
  const left = collected(first!, [to()])!;
  const stays = (world: World, labels = left.metadata?.labels ?? {}): boolean => {
    const endpoints = [{ ...left, metadata: { ...left.metadata, labels } }];
    return decide({ gateways: GATEWAYS, ...world, endpoints }).removed.length === 0;
  };
  expect(stays({ routes: [to()] })).toBe(false);
  expect(stays({ routes: [to({ conditions: [] })] })).toBe(true);
  expect(stays({ routes: [] })).toBe(true);
  expect(stays({ routes: [to()] }, {})).toBe(true);
});
