import type { V1Ingress } from '@kubernetes/client-node';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Condition } from '../../../runtime/controller/conditions.ts';
import { planRecords } from '../../../weights/plan/plan.ts';
import { ANY_REMOVAL, NO_REMOVALS } from '../../../weights/plan/removal.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { Gateway, HttpRoute, ListenerSet } from '../../../weights/gateway/gatewayApi.ts';
import { NO_ZONES } from '../../../weights/zone/published.ts';
import { divide, settingsOf } from '../decide/divide.ts';
import { toCachedGateway, toCachedIngress, toCachedListenerSet, toCachedRoute } from '../observe/cachedObjects.ts';
import { observe, type Observed } from '../observe/observe.ts';

/** Host of the routes and Ingresses below. */
export const HOST = 'a.example.org';
const PUBLIC = { namespace: 'infra', name: 'public' };
/** The time of the decision. */
export const NOW = '2026-06-01T12:00:00Z';
/** A listener that takes the routes of all namespaces. */
export const OPEN = { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } };

type Spec = NonNullable<HttpRoute['spec']>;
export type Rules = NonNullable<Spec['rules']>;
type Listener = NonNullable<NonNullable<Gateway['spec']>['listeners']>[number];

export const says = (type: string, status: Condition['status'], over: Partial<Condition> = {}): Condition => ({
  ...{ type, status, reason: 'Test', message: '', lastTransitionTime: NOW, ...over },
});
export const TAKEN = [says('Accepted', 'True'), says('ResolvedRefs', 'True')];

export interface RouteSettings {
  readonly name?: string;
  readonly age?: number;
  readonly rules?: Rules;
  readonly hostnames?: string[];
  /** Fields of the parent that the status names. */
  readonly parent?: object;
  /** The parents in the spec, if they are others. */
  readonly asked?: readonly object[];
  readonly conditions?: Condition[];
  readonly annotations?: Record<string, string>;
}

/** A route that has the Service `web` of its namespace as its backend. @param age years after 2020 that it was created */
export function route(namespace: string, over: RouteSettings = {}): HttpRoute {
  const { name = 'web', age = 1, hostnames = [HOST], rules = [{ backendRefs: [{ name: 'web' }] }] } = over;
  const { parent = {}, conditions = TAKEN, annotations = {} } = over;
  const parentRef = { ...PUBLIC, ...parent };
  const parentRefs = (over.asked ?? [parent]).map((one) => ({ ...PUBLIC, ...one }));
  return {
    metadata: { ...meta(namespace, name, age), annotations, generation: 2 },
    spec: { parentRefs, hostnames, rules },
    status: { parents: conditions.length === 0 ? [] : [{ parentRef, conditions }] },
  };
}

function meta(namespace: string, name: string, age: number) {
  const creationTimestamp = `${2020 + age}-01-01T00:00:00Z` as unknown as Date;
  return { namespace, name, uid: `${namespace}-${name}`, creationTimestamp };
}

interface IngressSettings {
  readonly name?: string;
  readonly host?: string;
  readonly age?: number;
  readonly service?: string;
  /** Instead of the number 80. */
  readonly portName?: string;
  readonly className?: string;
  /** Undefined: none yet. */
  readonly address?: string | undefined;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
}

/** An Ingress with one path. @param over.age years after 2020 that it was created */
export function ingress(namespace: string, over: IngressSettings = {}): V1Ingress {
  const { name = 'web', host = HOST, age = 1, service = 'web', portName, className = 'nginx' } = over;
  const { annotations = {}, labels = {} } = over;
  const ip = 'address' in over ? over.address : '192.0.2.1';
  const port = portName === undefined ? { number: 80 } : { name: portName };
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port } } }];
  return {
    metadata: { ...meta(namespace, name, age), annotations, labels },
    spec: { ingressClassName: className, rules: [{ host, http: { paths } }] },
    status: { loadBalancer: { ingress: ip === undefined ? [] : [{ ip }] } },
  };
}

export interface World {
  readonly routes?: readonly HttpRoute[];
  readonly ingresses?: readonly KubeObject[];
  /** Listeners of the Gateway `public`. The Gateway `own` has the same address and takes all routes. */
  readonly listeners?: readonly Listener[];
  /** Instead of the Gateways `public` and `own`. */
  readonly gateways?: readonly Gateway[];
  readonly listenerSets?: readonly ListenerSet[];
  readonly spec?: Partial<TrafficWeightSpec>;
  /** Namespaces whose labels are known. */
  readonly namespaces?: readonly string[];
  /** Services with a ready endpoint. */
  readonly ready?: readonly string[];
  readonly endpoints?: readonly DnsEndpoint[];
  /** The namespaces that had hosts before. */
  readonly held?: ReadonlyMap<string, string>;
  /** spec.allowRemoval. Default: Any. */
  readonly allowed?: string;
  /** TrafficWeights besides `main`, by their names. */
  readonly others?: Readonly<Record<string, Partial<TrafficWeightSpec>>>;
}

interface GatewaySettings {
  readonly listeners?: readonly Listener[];
  readonly address?: string;
  readonly className?: string;
  /** RFC 3339. */
  readonly created?: string;
}

/** A Gateway that was created long ago, unless it says otherwise. */
export function gateway(name: string, over: GatewaySettings = {}): Gateway {
  const { listeners = [OPEN], address = '192.0.2.1', className = 'public', created = '2020-01-01T00:00:00Z' } = over;
  return {
    metadata: { ...PUBLIC, name, creationTimestamp: created as unknown as Date },
    spec: { gatewayClassName: className, listeners: [...listeners] },
    status: { addresses: [{ value: address }] },
  };
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace}/${metadata?.name}`;

/** Decides the records of a cluster with the weight 75, by the object that has them and the host. */
export function decide(world: World) {
  const { routes = [], ingresses = [], listeners = [OPEN], ready = ['team-a/web'], endpoints = [] } = world;
  const { gateways = [gateway('public', { listeners }), gateway('own')] } = world;
  const lister = (objects: readonly KubeObject[]) => ({
    list: () => objects,
    get: (key: string) => objects.find((one) => keyOf(one) === key),
  });
  const { namespaces: known = ['team-a', 'team-b'] } = world;
  const namespaces = known.map((name) => ({ metadata: { name, labels: { team: name } } }));
  const specs = { main: world.spec, ...world.others };
  const existing = Object.entries(specs).map(([name, spec]): TrafficWeight => {
    return {
      metadata: { name },
      spec: { clusterName: 'c', backend: { static: { weight: 75 } }, ...spec },
    };
  });
  const weight = existing[0]!;
  const observed = observe(weight, {
    caches: {
      ingresses: { lister: lister(ingresses.map((one) => toCachedIngress(one))) },
      slices: { lister: { byIndex: (_: string, key: string) => (ready.includes(key) ? [{ isReady: true }] : []) } },
      namespaces: { lister: { get: (name: string) => namespaces.find(({ metadata }) => metadata.name === name) } },
      gatewayApi: {
        routes: { lister: lister(routes.map(toCachedRoute)) },
        gateways: { lister: lister(gateways.map(toCachedGateway)) },
        listenerSets: { lister: lister((world.listenerSets ?? []).map(toCachedListenerSet)) },
      },
    },
    clock: { now: () => Date.parse(NOW) },
    weights: { list: () => existing, get: (name: string) => existing.find(({ metadata }) => metadata?.name === name) },
    endpoints: { get: (key: string) => endpoints.find((one) => keyOf(one) === key), byIndex: () => [...endpoints] },
  } as unknown as Observed);
  const { candidates, weights, ...scene } = observed;
  const { selected: sources, ...division } = divide(weight, { weights, candidates }, scene.labelOf);
  const settings = settingsOf(weight.spec, 75);
  const given = { settings, sources, zones: NO_ZONES, heldBefore: world.held ?? new Map<string, string>() };
  const removals = { allowed: world.allowed ?? ANY_REMOVAL, before: NO_REMOVALS, now: Date.parse(NOW) };
  return planRecords({ ...scene, ...division, ...given, removals, leftOut: new Set(), owner: 'main' });
}

/** `namespace host: weight reason`. */
export function weights(world: World): string[] {
  return decide(world).sources.flatMap(({ source, hosts }) =>
    hosts.map(({ host, weight, reason }) => `${source.namespace} ${host}: ${weight} ${reason}`),
  );
}

/** The addresses and the weight of each host with a record, after the writes of a plan. */
export function records(world: World): Record<string, string> {
  const { sources, removed, remaining } = decide(world);
  const gone = new Set(removed.map(keyOf));
  const present = (world.endpoints ?? []).filter((one) => !gone.has(keyOf(one)));
  const desired = [...sources, ...remaining].flatMap((one) => one.desired ?? []);
  const after = new Map([...present, ...desired].map((endpoint) => [keyOf(endpoint), endpoint]));
  const all = [...after.values()].flatMap(({ spec }) => spec?.endpoints ?? []);
  return Object.fromEntries(
    all.map(({ dnsName, targets, providerSpecific }) => [dnsName, `${targets.join()} ${providerSpecific?.[0]?.value}`]),
  );
}

/** The DNSEndpoints that a plan writes. */
export function written(world: World): DnsEndpoint[] {
  return decide(world).sources.flatMap(({ desired }) => desired ?? []);
}
