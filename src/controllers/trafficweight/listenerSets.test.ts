import { describe, expect, it } from 'vitest';
import type { Gateway, ListenerSet } from '../../weights/gateway/gatewayApi.ts';
import { decide, gateway, HOST, OPEN, route, says, weights, type World } from './testing/world.ts';

/** The Gateway `infra/public` has no listener of its own; the ListenerSet `team-a/set` adds one. */
const listener = { ...OPEN, name: 'web' };
const gatewayWith = (allowedListeners?: object): Gateway => {
  const made = gateway('public', { listeners: [] });
  return { ...made, spec: { ...made.spec, ...(allowedListeners && { allowedListeners }) } };
};
const ALL = { namespaces: { from: 'All' } };
const set = (over: object = {}): ListenerSet => ({
  metadata: { namespace: 'team-a', name: 'set', creationTimestamp: '2020-01-01T00:00:00Z' as unknown as Date },
  spec: { parentRef: { namespace: 'infra', name: 'public' }, listeners: [{ ...listener, ...over }] },
});
const PARENT = { kind: 'ListenerSet', namespace: 'team-a', name: 'set' };
const routed = (over: Parameters<typeof route>[1] = {}) => route('team-a', { parent: PARENT, ...over });
const found = (world: World = {}): string[] =>
  weights({ routes: [routed()], gateways: [gatewayWith(ALL)], listenerSets: [set()], ...world });

const KEPT = [`team-a ${HOST}: 75 ClusterWeight`];

describe('a route with a ListenerSet as its parent', () => {
  it('has the addresses of the Gateway, and the hosts of the listener', () => {
    expect(found()).toEqual(KEPT);
    const world = { gateways: [gatewayWith(ALL)], listenerSets: [set({ hostname: HOST })] };
    const [source] = decide({ ...world, routes: [routed({ hostnames: [] })] }).sources;
    expect(source?.desired?.spec?.endpoints).toMatchObject([{ dnsName: HOST, targets: ['192.0.2.1'] }]);
  });

  it.each<[string, object | undefined, string[]]>([
    [
      'the namespaces of team-a',
      { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'team-a' } } } },
      KEPT,
    ],
    ['other namespaces', { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'team-b' } } } }, []],
    ['its own namespace', { namespaces: { from: 'Same' } }, []],
    ['none', { namespaces: {} }, []],
    ['nothing, as by default', undefined, []],
  ])('has hosts as the Gateway takes ListenerSets: of %s', (_, allowed, expected) => {
    expect(found({ gateways: [gatewayWith(allowed)] })).toEqual(expected);
  });

  it.each<[string, World]>([
    ['another listener', { routes: [routed({ parent: { ...PARENT, sectionName: 'other' } })] }],
    ['another namespace', { listenerSets: [set({ allowedRoutes: { namespaces: { from: 'None' } } })] }],
    ['a refusal', { routes: [routed({ conditions: [says('Accepted', 'False')] })] }],
    ['no status', { routes: [routed({ conditions: [] })] }],
    ['no ListenerSet', { listenerSets: [] }],
    ['no Gateway', { gateways: [] }],
  ])('has none with %s', (_, world) => {
    expect(found(world)).toEqual([]);
  });

  it('keeps its records while its ListenerSet is missing', () => {
    const [first] = decide({ routes: [routed()], gateways: [gatewayWith(ALL)], listenerSets: [set()] }).sources;
    expect(found({ listenerSets: [], endpoints: [first!.desired!] })).toEqual(KEPT);
  });
});
