import type { V1Ingress } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { Condition } from '../../runtime/controller/conditions.ts';
import type { HttpRoute } from '../../weights/gateway/gatewayApi.ts';
import type { DnsEndpoint } from '../../weights/records/endpoint.ts';
import {
  decide,
  HOST,
  ingress,
  OPEN,
  route,
  says,
  TAKEN,
  weights,
  type RouteSettings,
  type Rules,
  type World,
} from './testing/world.ts';

/*
 * Team A has the host a.example.org in the namespace team-a. Every tenant of the namespace team-b may create routes and Ingresses
 * there. None of them may change the weight of a.example.org.
 */
const GRPC = { ...OPEN, name: 'grpc', allowedRoutes: { ...OPEN.allowedRoutes, kinds: [{ kind: 'GRPCRoute' }] } };
const OF_B = { ...OPEN, name: 'b', hostname: 'b.example.org' };

/** The weights of team A's host. */
const ofTeamA = (world: World): string[] => weights(world).filter((line) => line.startsWith(`team-a ${HOST}`));

const KEPT = [`team-a ${HOST}: 75 ClusterWeight`];
const UNREADY = [`team-a ${HOST}: 0 NoReadyEndpoints`];
const NO_BACKENDS: Rules = [{}];
const other = (over: RouteSettings = {}): HttpRoute => route('team-b', { age: 2, rules: NO_BACKENDS, ...over });

describe("a route of another namespace does not change a team's weight", () => {
  it.each<[string, HttpRoute]>([
    ['without backends', other()],
    ['with one rule of many without backends', other({ rules: [{ backendRefs: [{ name: 'web' }] }, {}] })],
    ['whose Service has no ready endpoint', other({ rules: [{ backendRefs: [{ name: 'none' }] }] })],
    ['whose backends all have the weight 0', other({ rules: [{ backendRefs: [{ name: 'web', weight: 0 }] }] })],
    ['whose backend is not permitted', other({ conditions: [TAKEN[0]!, says('ResolvedRefs', 'False')] })],
    ['with the hosts of the listener', other({ hostnames: [] })],
    ['with a wildcard', other({ hostnames: ['*.example.org'] })],
    ['with an annotation', other({ annotations: { 'dns.adevinta.com/traffic-weight': '0' } })],
  ])('%s', (_, hostile) => {
    const listeners = [{ ...OPEN, hostname: HOST }];
    expect(ofTeamA({ routes: [route('team-a'), hostile], listeners })).toEqual(KEPT);
  });

  it.each<[string, HttpRoute, Partial<World>]>([
    ['that is not selected by its kind of annotation', other(), { spec: { annotationFilter: 'team=a' } }],
    [
      'that the listener does not take',
      other(),
      {
        listeners: [
          {
            ...OPEN,
            allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'team-a' } } } },
          },
        ],
      },
    ],
    ['of a listener for its own namespace', other(), { listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] }],
    ['of a listener for other kinds', other({ parent: { sectionName: 'grpc' } }), { listeners: [OPEN, GRPC] }],
    ['of a listener that does not exist', other({ parent: { sectionName: 'none' } }), {}],
    ['of another port', other({ parent: { port: 8080 } }), {}],
    ['of a listener for another host', other({ parent: { sectionName: 'b' } }), { listeners: [OPEN, OF_B] }],
    ['of a Gateway that was deleted', other({ parent: { name: 'gone' } }), {}],
    ['that is not accepted', other({ conditions: [says('Accepted', 'False')] }), {}],
    ['without a status', other({ conditions: [] }), {}],
  ])('%s', (_, hostile, world) => {
    const routes = [route('team-a', { annotations: { team: 'a' }, parent: { name: 'own' } }), hostile];
    expect(ofTeamA({ routes, ...world })).toEqual(KEPT);
    expect(weights({ routes, ...world }).filter((line) => line.startsWith('team-b'))).toEqual([]);
  });

  it('that is older, once the team has the record', () => {
    const endpoint = decide({ routes: [route('team-a')] }).sources[0]!.desired!;
    const routes = [route('team-a'), other({ age: 0 })];
    expect(ofTeamA({ routes, endpoints: [endpoint] })).toEqual(KEPT);
  });

  it('that is older than the route with which the team replaces its first one', () => {
    const { held } = decide({ routes: [route('team-a'), other({ age: 2 })] });
    const routes = [route('team-a', { name: 'new', age: 3 }), other({ age: 2 })];
    expect(ofTeamA({ routes, held })).toEqual(KEPT);
    const notFirst = decide({ routes: [other()] }).held;
    expect(ofTeamA({ routes, held: notFirst })).toEqual([`team-a ${HOST}: undefined OtherNamespace`]);
  });

  it('and does not make an unready host ready', () => {
    const routes = [route('team-a'), route('team-b', { age: 2 })];
    expect(ofTeamA({ routes, ready: ['team-b/web'] })).toEqual(UNREADY);
  });
});

describe("an Ingress of another namespace does not change a team's weight", () => {
  it.each<[string, object]>([
    ['without a ready backend', { service: 'none' }],
    ['of another class', { service: 'none', className: 'other' }],
    ['with a wildcard', { service: 'none', host: '*.example.org' }],
  ])('%s', (_, over) => {
    const hostile = ingress('team-b', { age: 2, ...over });
    expect(ofTeamA({ ingresses: [ingress('team-a'), hostile] })).toEqual(KEPT);
    expect(ofTeamA({ ingresses: [hostile], routes: [route('team-a')] })).toEqual(KEPT);
  });
});

describe('records that a tenant of another namespace has forged', () => {
  const plain = ingress('team-a', { age: 5 });
  const [own] = decide({ ingresses: [plain] }).sources;
  const forged = (over: object = {}): { ingresses: V1Ingress[]; endpoints: DnsEndpoint[] } => {
    const hostile = ingress('team-b', { age: 1, service: 'none', ...over });
    const [planned] = decide({ ingresses: [hostile] }).sources;
    const metadata = { ...planned!.desired!.metadata!, labels: {} };
    return { ingresses: [plain, hostile], endpoints: [own!.desired!, { ...planned!.desired!, metadata }] };
  };

  it('take no host whose records the team has, in a namespace that is not selected', () => {
    const spec = { namespaceSelector: { matchLabels: { team: 'team-a' } } };
    expect(weights({ ...forged(), spec })).toEqual(KEPT);
  });

  it('take none in a selected namespace, if the team had it before', () => {
    const held = new Map([[HOST, 'team-a']]);
    expect(ofTeamA({ ...forged(), held })).toEqual(KEPT);
  });
});

describe('a backend of another namespace', () => {
  const crossing = (conditions: RouteSettings['conditions'], backend: object = { namespace: 'team-b' }) =>
    route('team-a', { rules: [{ backendRefs: [{ name: 'web', ...backend }] }], conditions: conditions ?? [] });
  const ready = ['team-b/web'];

  it.each<[string, Condition['status'] | undefined, string[]]>([
    ['counts if the Gateway says that it resolves', 'True', KEPT],
    ['is none if the Gateway says that it does not', 'False', UNREADY],
    ['is none if the Gateway does not know', 'Unknown', UNREADY],
    ['is none if the Gateway says nothing', undefined, UNREADY],
  ])('%s', (_, status, expected) => {
    const conditions = [TAKEN[0]!, ...(status === undefined ? [] : [says('ResolvedRefs', status)])];
    expect(ofTeamA({ routes: [crossing(conditions)], ready })).toEqual(expected);
  });

  it('is not reached by a name with a slash', () => {
    expect(ofTeamA({ routes: [crossing(TAKEN, { name: 'team-b/web' })], ready })).toEqual(UNREADY);
  });
});
