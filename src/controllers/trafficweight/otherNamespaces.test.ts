import { describe, expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Condition } from '../../runtime/controller/conditions.ts';
import { planRecords } from '../../weights/plan/plan.ts';
import type { DnsEndpoint } from '../../weights/records/endpoint.ts';
import type { Gateway, HttpRoute } from '../../weights/gateway/gatewayApi.ts';
import { NO_ZONES } from '../../weights/zone/published.ts';
import { divide, settingsOf } from './decide/divide.ts';
import { toCachedGateway, toCachedIngress, toCachedRoute } from './observe/cachedObjects.ts';
import { observe, type Observed } from './observe/observe.ts';

/*
 * Team A has the host a.example.org in the namespace team-a. Every tenant of the namespace team-b may create routes and Ingresses
 * there. None of them may change the weight of a.example.org.
 */
const HOST = 'a.example.org';
const PUBLIC = { namespace: 'infra', name: 'public' };
const OPEN = { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } };

const GRPC = { ...OPEN, name: 'grpc', allowedRoutes: { ...OPEN.allowedRoutes, kinds: [{ kind: 'GRPCRoute' }] } };
const OF_B = { ...OPEN, name: 'b', hostname: 'b.example.org' };

type Spec = NonNullable<HttpRoute['spec']>;
type Rules = NonNullable<Spec['rules']>;
type Listener = NonNullable<NonNullable<Gateway['spec']>['listeners']>[number];

const says = (type: string, status: Condition['status']): Condition => ({
  ...{ type, status, reason: 'Test', message: '', lastTransitionTime: '' },
});
const TAKEN = [says('Accepted', 'True'), says('ResolvedRefs', 'True')];

interface RouteSettings {
  readonly name?: string;
  readonly age?: number;
  readonly rules?: Rules;
  readonly hostnames?: string[];
  readonly parent?: object;
  readonly conditions?: Condition[];
  readonly annotations?: Record<string, string>;
}

/** A route that has the Service `web` of its namespace as its backend. @param age years after 2020 that it was created */
function route(namespace: string, over: RouteSettings = {}): HttpRoute {
  const { name = 'web', age = 1, hostnames = [HOST], rules = [{ backendRefs: [{ name: 'web' }] }] } = over;
  const { parent = {}, conditions = TAKEN, annotations = {} } = over;
  const parentRef = { ...PUBLIC, ...parent };
  return {
    metadata: { ...meta(namespace, name, age), annotations },
    spec: { parentRefs: [parentRef], hostnames, rules },
    status: { parents: conditions.length === 0 ? [] : [{ parentRef, conditions }] },
  };
}

function meta(namespace: string, name: string, age: number) {
  const creationTimestamp = `${2020 + age}-01-01T00:00:00Z` as unknown as Date;
  return { namespace, name, uid: `${namespace}-${name}`, creationTimestamp };
}

function ingress(namespace: string, over: { host?: string; age?: number; service?: string; className?: string } = {}) {
  const { host = HOST, age = 1, service = 'web', className = 'nginx' } = over;
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { number: 80 } } } }];
  return {
    metadata: meta(namespace, 'web', age),
    spec: { ingressClassName: className, rules: [{ host, http: { paths } }] },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  };
}

interface World {
  readonly routes?: readonly HttpRoute[];
  readonly ingresses?: readonly KubeObject[];
  /** Listeners of the Gateway `public`. The Gateway `own` has the same address and takes all routes. */
  readonly listeners?: readonly Listener[];
  readonly spec?: Partial<TrafficWeightSpec>;
  /** Services with a ready endpoint. */
  readonly ready?: readonly string[];
  readonly endpoints?: readonly DnsEndpoint[];
  /** The namespaces that had hosts before. */
  readonly held?: ReadonlyMap<string, string>;
}

function gateway(name: string, listeners: readonly Listener[]): Gateway {
  return {
    metadata: { ...PUBLIC, name },
    spec: { gatewayClassName: 'public', listeners: [...listeners] },
    status: { addresses: [{ value: '192.0.2.1' }] },
  };
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace}/${metadata?.name}`;

/** Decides the records of a cluster with the weight 75, by the object that has them and the host. */
function decide(world: World) {
  const { routes = [], ingresses = [], listeners = [OPEN], ready = ['team-a/web'], endpoints = [] } = world;
  const lister = (objects: readonly KubeObject[]) => ({
    list: () => objects,
    get: (key: string) => objects.find((one) => keyOf(one) === key),
  });
  const namespaces = ['team-a', 'team-b'].map((name) => ({ metadata: { name, labels: { team: name } } }));
  const weight = {
    metadata: { name: 'main' },
    spec: { clusterName: 'c', backend: { static: { weight: 75 } }, ...world.spec },
  } as TrafficWeight;
  const observed = observe(weight, {
    caches: {
      ingresses: { lister: lister(ingresses.map((one) => toCachedIngress(one))) },
      slices: { lister: { byIndex: (_: string, key: string) => (ready.includes(key) ? [{ isReady: true }] : []) } },
      namespaces: { lister: { get: (name: string) => namespaces.find(({ metadata }) => metadata.name === name) } },
      gatewayApi: {
        routes: { lister: lister(routes.map(toCachedRoute)) },
        gateways: { lister: lister([gateway('public', listeners), gateway('own', [OPEN])].map(toCachedGateway)) },
      },
    },
    weights: lister([]),
    endpoints: { get: (key: string) => endpoints.find((one) => keyOf(one) === key), byIndex: () => [...endpoints] },
  } as unknown as Observed);
  const { candidates, weights, ...scene } = observed;
  const { selected: sources, ...division } = divide(weight, { weights, candidates }, scene.labelOf);
  const settings = settingsOf(weight.spec, 75);
  const known = { settings, sources, zones: NO_ZONES, heldBefore: world.held ?? new Map<string, string>() };
  return planRecords({ ...scene, ...division, ...known, owner: 'main' });
}

/** `namespace host: weight reason`. */
function weights(world: World): string[] {
  return decide(world).sources.flatMap(({ source, hosts }) =>
    hosts.map(({ host, weight, reason }) => `${source.namespace} ${host}: ${weight} ${reason}`),
  );
}

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
