import type { V1Ingress, V1IngressBackend } from '@kubernetes/client-node';
import { normal } from './domain.ts';
import { servicesOfBackends } from './ingressBackends.ts';

/** A host of a source, with the Services that answer for it. */
export interface SourceHost {
  /** As DNS compares it; may begin with `*.`. */
  readonly host: string;
  /** Services, sorted and distinct: by name in the namespace of the source, else as `namespace/name`. */
  readonly services: readonly string[];
  /** True if some traffic of the host goes to no Service, for example by a rule without paths and without a default backend. */
  readonly leadsNowhere: boolean;
}

export const INGRESS = 'Ingress';
export const HTTP_ROUTE = 'HTTPRoute';
/** The kinds of sources. */
export const SOURCE_KINDS = [INGRESS, HTTP_ROUTE] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** An Ingress or HTTPRoute: an object that sends the traffic of hosts to a load balancer, and gets a DNSEndpoint. */
export interface Source {
  readonly kind: SourceKind;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly hosts: readonly SourceHost[];
  readonly targets: readonly Targets[];
}

/** The fields that identify a source. */
export type SourceRef = Pick<Source, 'kind' | 'namespace' | 'name'>;

/**
 * Returns the name of the DNSEndpoint of a source. For an Ingress, both have the same name, as in k8s-traffic-controller. An
 * HTTPRoute may have the name of the Ingress that it replaces, so its DNSEndpoint needs a different name.
 */
export function endpointNameOf({ kind, name }: Pick<Source, 'kind' | 'name'>): string {
  return kind === INGRESS ? name : `${name}.httproute`;
}

/** Returns the key of the DNSEndpoint of a source: `namespace/name`. */
export function endpointKeyOf(source: SourceRef): string {
  return `${source.namespace}/${endpointNameOf(source)}`;
}

/** Returns the name of a source for messages. */
export function nameOfSource({ kind, namespace, name }: SourceRef): string {
  return kind === INGRESS ? `${namespace}/${name}` : `${kind} ${namespace}/${name}`;
}

/** Returns the key of a Service of a source: `namespace/name`. @param service as in SourceHost */
export function serviceKey(namespace: string, service: string): string {
  return service.includes('/') ? service : `${namespace}/${service}`;
}

/** Returns an Ingress as a source. Rules without a host are for any host, so they get no record. */
export function sourceOfIngress({ metadata, spec, status }: V1Ingress): Source {
  const hosts = new Map<string, { services: Set<string>; leadsNowhere: boolean }>();
  const servicesOf = servicesOfBackends(metadata ?? {});
  for (const { host, http } of spec?.rules ?? []) {
    if (host === undefined || host === '') continue;
    const backends = http?.paths.map(({ backend }) => backend) ?? defaultBackends(spec?.defaultBackend);
    const known = hosts.get(normal(host)) ?? { services: new Set(), leadsNowhere: false };
    for (const name of backends.flatMap(servicesOf)) known.services.add(name);
    hosts.set(normal(host), { ...known, leadsNowhere: known.leadsNowhere || backends.length === 0 });
  }
  return {
    kind: INGRESS,
    apiVersion: 'networking.k8s.io/v1',
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    createdAt: createdAt(metadata?.creationTimestamp),
    annotations: metadata?.annotations ?? {},
    hosts: [...hosts].map(([host, { services, leadsNowhere }]) => ({
      ...{ host, leadsNowhere },
      services: [...services].sort(),
    })),
    targets: targetsOf(status?.loadBalancer?.ingress ?? []),
  };
}

function defaultBackends(backend: V1IngressBackend | undefined): V1IngressBackend[] {
  return backend === undefined ? [] : [backend];
}

/** The fields by which objects are compared for their age. */
export interface Aged {
  /** RFC 3339. */
  readonly createdAt: string;
  /** Decides between objects of the same age. */
  readonly name: string;
}

/** Compares for a sort: the older object first, then by name. */
export function byAge(a: Aged, b: Aged): number {
  return compare(a.createdAt, b.createdAt) || compare(a.name, b.name);
}

/** Returns metadata.creationTimestamp as text. Its type says Date, but the JSON of the API server has a text. */
export function createdAt(time: Date | string | undefined): string {
  return time instanceof Date ? time.toISOString() : (time ?? '');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A load balancer as status.loadBalancer of an Ingress or status.addresses of a Gateway states it. */
export interface LoadBalancerAddress {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
}

/** The value of a record set. */
export interface Targets {
  readonly recordType: 'CNAME' | 'A' | 'AAAA';
  /** Sorted and distinct, so that their order in the status changes nothing. A CNAME has one target. */
  readonly targets: readonly string[];
}

/**
 * Returns the record sets that lead to a load balancer.
 *
 * | addresses | record sets |
 * |---|---|
 * | a host name | CNAME to the first host name, as in k8s-traffic-controller; IP addresses are ignored, since a CNAME allows no other record |
 * | IPv4, IPv6 | A, AAAA with all of them |
 * | none yet, or only addresses of the machine itself | none: MicroK8s gives its Ingresses 127.0.0.1, with which clients would ask themselves |
 */
export function targetsOf(addresses: readonly LoadBalancerAddress[]): Targets[] {
  const names = addresses.flatMap(({ hostname = '' }) => (hostname === '' || hostname === 'localhost' ? [] : hostname));
  if (names[0] !== undefined) return [{ recordType: 'CNAME', targets: [names[0]] }];
  const ips = [...new Set(addresses.flatMap(({ ip = '' }) => (ip === '' || isOfMachine(ip) ? [] : ip)))].sort();
  return [
    { recordType: 'A' as const, targets: ips.filter((ip) => !isIPv6(ip)) },
    { recordType: 'AAAA' as const, targets: ips.filter(isIPv6) },
  ].filter(({ targets }) => targets.length > 0);
}

/** Loopback and unspecified addresses (RFC 1122, RFC 4291), also as IPv6 addresses with zeros written out. */
const OF_MACHINE = /^(127\.|0\.0\.0\.0$|[0:]+1?$|::ffff:127\.)/i;

function isOfMachine(ip: string): boolean {
  return OF_MACHINE.test(ip);
}

/** The API server has checked that it is an IP address. */
function isIPv6(ip: string): boolean {
  return ip.includes(':');
}
