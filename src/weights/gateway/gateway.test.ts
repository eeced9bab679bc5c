import { describe, expect, it } from 'vitest';
import { gatewayOf, TakenListeners } from './gateway.ts';
import type { Listener } from './gatewayApi.ts';

type AllowedRoutes = Listener['allowedRoutes'];

const ANY = { sectionName: undefined, port: undefined };
const TEAM_A = { matchLabels: { team: 'a' } };

/** Whether the listener of a Gateway in the namespace `infra` takes a route. The labels of team-a are `team: a`. */
function isTaken(over: Partial<Listener> | undefined, namespace: string, reference: object = {}): boolean {
  const listener = { name: 'web', port: 80, protocol: 'HTTP', ...over };
  const gateway = gatewayOf({ metadata: { namespace: 'infra', name: 'public' }, spec: { listeners: [listener] } });
  const matches = (selector: object): boolean => selector === TEAM_A && namespace === 'team-a';
  const listeners = new TakenListeners(gateway, { name: namespace, matches });
  return listeners.hostsFor({ ...ANY, ...reference }) !== undefined;
}

describe('a listener', () => {
  it.each<[string, AllowedRoutes, boolean[]]>([
    ['without allowedRoutes', undefined, [true, false, false]],
    ['with Same', { namespaces: { from: 'Same' } }, [true, false, false]],
    ['with All', { namespaces: { from: 'All' } }, [true, true, true]],
    ['with a selector', { namespaces: { from: 'Selector', selector: TEAM_A } }, [false, true, false]],
    ['with Selector, and none', { namespaces: { from: 'Selector' } }, [false, false, false]],
    ['with a selector, and All', { namespaces: { from: 'All', selector: TEAM_A } }, [true, true, true]],
    ['with a value that is not known', { namespaces: { from: 'Other' } }, [false, false, false]],
  ])('%s takes routes of infra, team-a, team-b: %j', (_, allowedRoutes, expected) => {
    const over = allowedRoutes === undefined ? {} : { allowedRoutes };
    expect(['infra', 'team-a', 'team-b'].map((each) => isTaken(over, each))).toEqual(expected);
  });

  it.each<[NonNullable<AllowedRoutes>['kinds'], boolean]>([
    [[], true],
    [[{ kind: 'HTTPRoute' }], true],
    [[{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }, { kind: 'GRPCRoute' }], true],
    [[{ kind: 'GRPCRoute' }], false],
    [[{ group: 'example.com', kind: 'HTTPRoute' }], false],
  ])('of the kinds %j takes HTTPRoutes: %s', (kinds, expected) => {
    expect(isTaken({ allowedRoutes: { kinds: kinds ?? [] } }, 'infra')).toBe(expected);
  });

  it.each<[object, boolean]>([
    [{ sectionName: 'web' }, true],
    [{ sectionName: 'other' }, false],
    [{ port: 80 }, true],
    [{ port: 443 }, false],
    [{ sectionName: 'web', port: 443 }, false],
  ])('that the route names by %j takes it: %s', (reference, expected) => {
    expect(isTaken({}, 'infra', reference)).toBe(expected);
  });

  it.each([
    ['HTTP', true],
    ['HTTPS', true],
    ['TLS', false],
    ['TCP', false],
  ])('with the protocol %s takes routes: %s', (protocol, expected) => {
    expect(isTaken({ protocol }, 'infra')).toBe(expected);
  });
});
