import { dnsEndpointOf, isOf, sourceUidOf } from '../records/dnsEndpoint.ts';
import { hostsIn, targetsIn, type DnsEndpoint } from '../records/endpoint.ts';
import { holders, type Claim } from '../records/holders.ts';
import { recordsOf, type HostWeight, type WeightReason, type WeightSettings } from '../records/records.ts';
import { shareRecord, withSharedHosts } from '../records/sharedHosts.ts';
import type { KnownZones } from '../zone/published.ts';
import { endpointKeyOf, nameOfSource, serviceKey, type Source } from '../records/source.ts';

/** Reasons of a host that gets no record, and whose record, if there is one, is another host's. */
const WITHOUT_RECORD: ReadonlySet<WeightReason> = new Set([
  'Conflict',
  'SharedHost',
  'OtherNamespace',
  'RecordInTheWay',
  'TooManyRecords',
]);

/** Label of a DNSEndpoint: whose settings its records have. */
export const OWNER_LABEL = 'traffic.example.com/trafficweight';

/** A source whose records another owner decides. */
export interface Rival {
  readonly source: Source;
  readonly settings: WeightSettings;
}

/** What is known when the records of a cluster are decided. Keys are `namespace/name`. */
export interface Scene {
  /** The value of OWNER_LABEL of these records. */
  readonly owner: string;
  readonly settings: WeightSettings;
  /** Those that are selected. */
  readonly sources: readonly Source[];
  /** Those that are known, and which no owner selects. */
  readonly unselected: readonly Source[];
  /** Those of which it is not known yet whether they are selected. */
  readonly undecided: readonly Source[];
  /** Another owner that has a source; undefined if this one has it. */
  readonly otherOwnerOf: (source: Source) => string | undefined;
  /** Sources of other owners whose records have the same set identifier. */
  readonly rivals: readonly Rival[];
  readonly endpointOf: (key: string) => DnsEndpoint | undefined;
  /** DNSEndpoints with OWNER_LABEL of this owner, also those that had it until a moment ago. */
  readonly owned: readonly DnsEndpoint[];
  /** Whether an owner of this name exists. */
  readonly isOwner: (name: string) => boolean;
  /** Whether a Service has a ready endpoint. */
  readonly isReady: (key: string) => boolean;
  /** Where the records are published. */
  readonly zones: KnownZones;
  /** `held` of the plan before; empty for the first plan. */
  readonly heldBefore: ReadonlyMap<string, string>;
}

/** What is decided about one source. */
export interface PlannedSource {
  readonly source: Source;
  /** Its hosts within the domain. */
  readonly hosts: readonly HostWeight[];
  /** To be applied; undefined if it has no record, or is in the way of another one. */
  readonly desired: DnsEndpoint | undefined;
  /** Its DNSEndpoint, or the one that is in the way. */
  readonly live: DnsEndpoint | undefined;
  /** Why a DNSEndpoint of its name is left alone, for users. */
  readonly foreign?: string;
  /** The load balancer has no address: the last one stays. */
  readonly hasLostAddress: boolean;
}

export interface RecordsPlan {
  /** The sources with a host within the domain, by the key of their DNSEndpoint. */
  readonly sources: readonly PlannedSource[];
  /** DNSEndpoints of this owner whose source nobody selects any more, or whose hosts all are with other sources. */
  readonly removed: readonly DnsEndpoint[];
  /** The namespace that has each host. */
  readonly held: ReadonlyMap<string, string>;
}

/**
 * Decides the DNSEndpoints of a cluster.
 *
 * | DNSEndpoint with the name of the source     | what happens                                  |
 * |---------------------------------------------|-----------------------------------------------|
 * | none                                        | created                                       |
 * | controlled by the source                    | applied: also one of k8s-traffic-controller   |
 * | of a source that another owner has          | left alone, and named                         |
 * | anything else                               | left alone, and named                         |
 *
 * A source whose load balancer has lost its address keeps the last one: a controller that restarts must not take hosts off
 * the DNS.
 *
 * Routes of one namespace share the record of a host. An object of another namespace never changes its weight: see holders().
 *
 * A DNSEndpoint is removed only if its source is known. The garbage collector of Kubernetes removes those of sources that
 * are deleted; one that is unknown may be missing from a cache that is late.
 */
export function planRecords(scene: Scene): RecordsPlan {
  const { settings, endpointOf, otherOwnerOf } = scene;
  const sources = [...scene.sources].sort(byKey);
  const joined = withSharedHosts(sources);
  const claims = sources.map((source, n) =>
    claimOf({ source: joined[n] ?? source, settings }, endpointOf, otherOwnerOf(source)),
  );
  const rivals = scene.rivals.map((rival) => claimOf(rival, endpointOf));
  const published = [...claims, ...rivals].filter(({ foreign }) => foreign === undefined);
  const held = holders([...published, ...leftovers(scene)], scene.heldBefore);
  const planned = claims.map((claim) => planSource(claim, held, scene)).filter(({ hosts }) => hosts.length > 0);
  return {
    sources: planned,
    removed: [...unselectedOf(scene), ...planned.flatMap(withoutHosts)],
    held: new Map([...held].map(([host, { namespace }]) => [host, namespace])),
  };
}

function unselectedOf({ unselected, owned, owner }: Scene): DnsEndpoint[] {
  const uids = new Set(unselected.map(({ uid }) => uid));
  return owned.filter((each) => {
    const source = sourceUidOf(each);
    return ownerOf(each) === owner && source !== undefined && uids.has(source);
  });
}

/** Also one that k8s-traffic-controller made, which has no label: two records of one host would compete. */
function withoutHosts({ hosts, desired, live, foreign }: PlannedSource): DnsEndpoint[] {
  const isStale = hosts.every(({ reason }) => WITHOUT_RECORD.has(reason));
  return foreign === undefined && desired === undefined && live !== undefined && isStale ? [live] : [];
}

/** DNSEndpoints that stay although nobody decides about them, such as those of an owner that is gone: they have their hosts. */
function leftovers({ unselected, undecided, settings, endpointOf, isOwner }: Scene): Claim[] {
  const claims = (sources: readonly Source[], stays: (endpoint: DnsEndpoint) => boolean): Claim[] =>
    sources.flatMap((source) => {
      const endpoint = ownEndpointOf(source, endpointOf);
      return endpoint !== undefined && stays(endpoint)
        ? [{ source: publishedBy(endpoint, source, settings), settings, endpoint }]
        : [];
    });
  const hasNoOwner = (endpoint: DnsEndpoint): boolean => !isOwner(ownerOf(endpoint) ?? '');
  return [...claims(undecided, () => true), ...claims(unselected, hasNoOwner)];
}

/** A source as its DNSEndpoint publishes it under this set identifier, whatever it asks for by now. */
function publishedBy(endpoint: DnsEndpoint, source: Source, { clusterName }: WeightSettings): Source {
  const records = endpoint.spec?.endpoints?.filter(({ setIdentifier }) => setIdentifier === clusterName);
  const hosts = hostsIn(records).map((host) => ({ host, services: [], leadsNowhere: false }));
  return { ...source, annotations: {}, targets: targetsIn(endpoint), hosts };
}

/** The owner whose label a DNSEndpoint has, if any. */
export function ownerOf({ metadata }: DnsEndpoint): string | undefined {
  return metadata?.labels?.[OWNER_LABEL];
}

/** The DNSEndpoint of a source's name, if the source controls it. */
export function ownEndpointOf(source: Source, endpointOf: Scene['endpointOf']): DnsEndpoint | undefined {
  const live = endpointOf(endpointKeyOf(source));
  return live !== undefined && isOf(live, source) ? live : undefined;
}

/** A source, with its last address if it has none, and the DNSEndpoint of its name. `endpoint` is that one, if it is the source's. */
interface PlanClaim extends Claim, Pick<PlannedSource, 'live' | 'hasLostAddress'> {
  readonly foreign: string | undefined;
}

/** @param other another owner that has the source */
function claimOf({ source, settings }: Rival, endpointOf: Scene['endpointOf'], other?: string): PlanClaim {
  const live = endpointOf(endpointKeyOf(source));
  const own = ownEndpointOf(source, endpointOf);
  const hasLostAddress = source.targets.length === 0;
  const foreign = foreignness(source, { isForeign: live !== own, other });
  return {
    source: hasLostAddress && own !== undefined ? { ...source, targets: targetsIn(own) } : source,
    ...{ settings, live, foreign, hasLostAddress },
    endpoint: foreign === undefined ? live : undefined,
  };
}

function planSource(
  { source, live, foreign, endpoint, hasLostAddress }: PlanClaim,
  held: ReadonlyMap<string, Source>,
  scene: Scene,
): PlannedSource {
  const { hosts, ...records } = recordsOf(source, scene.settings, {
    endpoint,
    zones: scene.zones,
    isReady: (service) => scene.isReady(serviceKey(source.namespace, service)),
    holderOf: (host) => {
      const holder = held.get(host);
      if (holder === undefined || holder === source) return undefined;
      const isSameNamespace = holder.namespace === source.namespace;
      return { name: nameOfSource(holder), isShared: shareRecord(holder, source), isSameNamespace };
    },
  });
  const planned = { source, hosts, live, hasLostAddress };
  if (foreign !== undefined) return { ...planned, desired: undefined, foreign };
  const made = dnsEndpointOf(source, { ...records, hosts });
  const desired = made && { ...made, metadata: { ...made.metadata, labels: { [OWNER_LABEL]: scene.owner } } };
  return { ...planned, desired };
}

function foreignness(
  source: Source,
  { isForeign, other }: { readonly isForeign: boolean; readonly other: string | undefined },
): string | undefined {
  const name = `DNSEndpoint ${endpointKeyOf(source)}`;
  if (isForeign) return `${name} is not controlled by this ${source.kind}, and is left alone`;
  return other === undefined ? undefined : `${name} is of ${other}, and is left alone`;
}

function byKey(a: Source, b: Source): number {
  return endpointKeyOf(a) < endpointKeyOf(b) ? -1 : 1;
}

/** Whether external-dns has read the DNSEndpoint as it is. */
export function isObserved({ metadata, status }: DnsEndpoint): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata?.generation ?? 0);
}
