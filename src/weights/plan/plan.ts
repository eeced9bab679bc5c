import { APPLIED_HASH_ANNOTATION } from '../../runtime/apply/difference.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import { dnsEndpointOf, hasController, isOf, refusalOf, sourceUidOf, type Refusal } from '../records/dnsEndpoint.ts';
import { isWithin } from '../records/domain.ts';
import { hostsIn, targetsIn, type DnsEndpoint } from '../records/endpoint.ts';
import { shareRecord, withSharedHosts, holders, type Claim } from '../records/holders.ts';
import { recordsOf, type HostWeight, type WeightReason, type WeightSettings } from '../records/records.ts';
import type { KnownZones } from '../zone/published.ts';
import { endpointKeyOf, nameOfSource, serviceKey, type Source } from '../records/source.ts';
import { heirsOf, inheritedIn, takenOver } from './heirs.ts';
import { remainingOf, type Remaining } from './remaining.ts';
import {
  decideRemoval,
  lostHosts,
  publishedHosts,
  withLost,
  type Confirmation,
  type Removal,
  type Removals,
} from './removal.ts';

/** Reasons with which a host gets no record from its source. */
const WITHOUT_RECORD: ReadonlySet<WeightReason> = new Set([
  'Conflict',
  'SharedHost',
  'OtherNamespace',
  'RecordInTheWay',
  'TooManyRecords',
  'Delegated',
  'NotPublishable',
]);

/** Label of a DNSEndpoint with the name of its owner: its records have the settings of this owner. */
export const OWNER_LABEL = 'traffic.example.com/trafficweight';

/** A source whose records another owner decides. */
export interface Rival {
  readonly source: Source;
  readonly settings: WeightSettings;
}

/** The inputs of `planRecords`. Keys are `namespace/name`. */
export interface Scene {
  /** The value of OWNER_LABEL of these records. */
  readonly owner: string;
  readonly settings: WeightSettings;
  /** The selected sources. */
  readonly sources: readonly Source[];
  /** Known sources that no owner selects. */
  readonly unselected: readonly Source[];
  /** Known sources that may be selected: that is not known yet. */
  readonly undecided: readonly Source[];
  /** Returns the other owner that has a source; undefined if this owner has it. */
  readonly otherOwnerOf: (source: Source) => string | undefined;
  /** Sources of other owners whose records have the same set identifier. */
  readonly rivals: readonly Rival[];
  readonly endpointOf: (key: string) => DnsEndpoint | undefined;
  /** DNSEndpoints with the OWNER_LABEL of this owner, also those that had it until recently. */
  readonly owned: readonly DnsEndpoint[];
  /** Whether an owner of this name exists. */
  readonly isOwner: (name: string) => boolean;
  /** Whether a Service has a ready endpoint. */
  readonly isReady: (key: string) => boolean;
  /** The zones in which the records are published. */
  readonly zones: KnownZones;
  /** `held` of the previous plan; empty for the first plan. */
  readonly heldBefore: ReadonlyMap<string, string>;
  /** Whether many hosts may lose their records at once; `before` is `removals` of the previous plan. */
  readonly removals: Confirmation;
  /** Keys of DNSEndpoints that cannot be decided, since the cache has no room for them or for their source. */
  readonly leftOut: ReadonlySet<string>;
}

/** The plan for one source. */
export interface PlannedSource {
  readonly source: Source;
  /** Its hosts within the domain. */
  readonly hosts: readonly HostWeight[];
  /** The DNSEndpoint to apply; undefined if the source gets no record, or `foreign` is set. */
  readonly desired: DnsEndpoint | undefined;
  /** The present DNSEndpoint of its name, also a foreign one. */
  readonly live: DnsEndpoint | undefined;
  /** Why the operator does not touch the DNSEndpoint of its name, for users. */
  readonly foreign?: string;
  /** True if the load balancer has no address: the records keep the last one. */
  readonly hasLostAddress: boolean;
}

export interface RecordsPlan {
  /** The sources with a host within the domain, by the key of their DNSEndpoint. */
  readonly sources: readonly PlannedSource[];
  /** The other DNSEndpoints of this owner, which stay. */
  readonly remaining: readonly Remaining[];
  /** The removal that waits for a confirmation. */
  readonly unconfirmed?: Removal;
  /** For the next plan. */
  readonly removals: Removals;
  /** DNSEndpoints to remove: no owner selects their source, or all their hosts get no record from it. */
  readonly removed: readonly DnsEndpoint[];
  /** Keys of DNSEndpoints that are unchanged, since nothing can be decided for their source, or it is refused: see refusalOf(). */
  readonly stale: readonly string[];
  /** The namespace whose source has each host, by host. */
  readonly held: ReadonlyMap<string, string>;
}

/**
 * Decides the DNSEndpoints of a cluster.
 *
 * | DNSEndpoint with the name of the source     | what happens                                  |
 * |---------------------------------------------|-----------------------------------------------|
 * | none                                        | created                                       |
 * | controlled by the source                    | applied, also if k8s-traffic-controller made it |
 * | its source belongs to another owner         | not touched, and named in `foreign`           |
 * | anything else                               | not touched, and named in `foreign`           |
 *
 * A DNSEndpoint that the API server would refuse is not written, and the present one stays: see refusalOf().
 *
 * A source whose load balancer has lost its address keeps the last address: the restart of an Ingress controller must not
 * take hosts off the DNS.
 *
 * Sources of one namespace with the same addresses share the record of a host. An object of another namespace never changes its weight: see holders().
 *
 * A DNSEndpoint of this owner that no source plans stays, with no weight above the weight of the cluster: a cluster that goes to 0 must
 * not keep traffic by a record that nobody plans. Without its source its weight is 0.
 *
 * If many hosts would lose their records at once because nothing selects them any longer, they keep them until that is confirmed: see
 * decideRemoval(). One typing error in a spec must not take a cluster off the DNS.
 *
 * A DNSEndpoint is removed only if its source is known: a late cache may lack an existing source. If the source is deleted,
 * the garbage collector of Kubernetes removes the DNSEndpoint; if another source waits for a host of it, the collector only removes the
 * reference to the deleted source, and the plan removes the DNSEndpoint after the records of the other source are written.
 */
export function planRecords(scene: Scene): RecordsPlan {
  const { settings, endpointOf, otherOwnerOf } = scene;
  const sources = [...scene.sources].sort(byKey);
  const joined = withSharedHosts(sources);
  const claims = sources.map((source, n) =>
    claimOf({ source: joined[n] ?? source, settings }, endpointOf, otherOwnerOf(source)),
  );
  const competing = [...claims, ...scene.rivals.map((rival) => rivalClaim(rival, endpointOf))]
    .filter(({ foreign }) => foreign === undefined)
    .flatMap(publishing);
  const planWith = (stays: Stays): Plans => planClaims(claims, competing, { scene, stays });
  const own = scene.owned.filter((each) => ownerOf(each) === scene.owner);
  const unselected = unselectedIn(own, scene);
  // Another namespace that gets a host does not replace its records, so a removal is decided as if nothing left.
  const all = planWith(() => true);
  const lost = lostHosts(all.planned, { ...all, unselected }, settings);
  const { waits, removals } = decideRemoval(lost, () => publishedHosts(own, all.planned), scene.removals);
  const isKept = (namespace = ''): boolean => waits?.namespaces.has(namespace) === true;
  const areAllKept = unselected.every(({ metadata }) => isKept(metadata?.namespace));
  const isFree = (namespace: string, host: string): boolean =>
    !isKept(namespace) && lost.get(namespace)?.has(host) === true;
  const { held, planned, given } = areAllKept ? all : planWith((namespace, host) => !isFree(namespace, host));
  const left = planned.filter(isLeft);
  const replaced = left.filter(hasNoHost).map(({ live }) => live);
  // Two DNSEndpoints with one host would compete, so what other objects publish already waits for no confirmation.
  const isReplaced = (each: DnsEndpoint): boolean => hostsIn(each.spec?.endpoints).every((host) => given.has(host));
  const goes = unselected.filter((each) => !isKept(each.metadata?.namespace) || isReplaced(each));
  const inherited = inheritedIn(own, sources);
  const removed = [...goes, ...takenOver(inherited, sources, given), ...replaced];
  return {
    sources: planned.map((each) => (isKept(each.source.namespace) ? withLost(each, settings) : each)),
    remaining: remainingIn(own, { planned, removed, inherited }, scene),
    ...(waits !== undefined && { unconfirmed: waits }),
    ...{ removals, removed },
    stale: left.filter((each) => !hasNoHost(each)).map(({ source }) => endpointKeyOf(source)),
    held: new Map([...held].map(([host, { namespace }]) => [host, namespace])),
  };
}

/** Whether a host of a DNSEndpoint of this owner that nothing selects stays in its namespace. */
type Stays = (namespace: string, host: string) => boolean;

interface Plans {
  readonly held: ReadonlyMap<string, Source>;
  readonly planned: readonly PlannedSource[];
  /** The hosts with records. */
  readonly given: ReadonlySet<string>;
}

/** Plans the sources of this owner. @param competing the claims that may have records, also of other owners */
function planClaims(
  claims: readonly PlanClaim[],
  competing: readonly Claim[],
  { scene, stays }: { readonly scene: Scene; readonly stays: Stays },
): Plans {
  const held = holders([...competing, ...leftovers(scene, stays)], scene.heldBefore);
  const merged = new Set(claims.map(({ source }) => source));
  const heirs = heirsOf(claims, held);
  const planned = claims
    .map((claim) => planSource(claim, { held, merged, heirs }, scene))
    .filter(({ hosts }) => hosts.length > 0);
  return { held, planned, given: new Set(planned.flatMap(({ desired }) => hostsIn(desired?.spec?.endpoints))) };
}

/** Returns the claim of a source; if its DNSEndpoint would be refused, a claim for the hosts of the present one, which stays. */
function publishing(claim: PlanClaim): Claim[] {
  const { source, settings, endpoint, refusal } = claim;
  if (refusal === undefined) return [claim];
  return endpoint === undefined ? [] : [{ source: publishedBy(endpoint, source, settings), settings, endpoint }];
}

/** @param own the DNSEndpoints of this owner */
function unselectedIn(own: readonly DnsEndpoint[], { unselected }: Scene): DnsEndpoint[] {
  const uids = new Set(unselected.map(({ uid }) => uid));
  return own.filter((each) => uids.has(sourceUidOf(each) ?? ''));
}

/** The DNSEndpoints that a plan knows what to do with, and those that wait for their heir. */
interface Known {
  readonly planned: readonly PlannedSource[];
  readonly removed: readonly DnsEndpoint[];
  readonly inherited: ReadonlySet<DnsEndpoint>;
}

/** Returns the DNSEndpoints of this owner that are neither planned nor removed. */
function remainingIn(
  own: readonly DnsEndpoint[],
  { planned, removed, inherited }: Known,
  { owner, settings, leftOut }: Scene,
): Remaining[] {
  const done = new Set([...leftOut, ...planned.map(({ source }) => endpointKeyOf(source)), ...removed.map(keyOf)]);
  // Without the mark of the operator, an admission policy refuses its writes.
  const isMarked = ({ metadata }: DnsEndpoint): boolean =>
    metadata?.annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
  return own
    .filter((each) => isMarked(each) && !done.has(keyOf(each)))
    .map((live) => {
      const isServed = hasController(live) || inherited.has(live);
      return remainingOf(live, { [OWNER_LABEL]: owner }, isServed ? settings.clusterWeight : 0);
    });
}

/** Returns whether a source has a DNSEndpoint, and none is desired. */
function isLeft(planned: PlannedSource): planned is PlannedSource & { readonly live: DnsEndpoint } {
  const { desired, live, foreign } = planned;
  return desired === undefined && live !== undefined && foreign === undefined;
}

/**
 * Returns whether no host of a source has a record: then the DNSEndpoint that it left is removed, also one of k8s-traffic-controller, which has no
 * label, because two records of one host would compete.
 */
function hasNoHost({ hosts }: PlannedSource): boolean {
  return hosts.every(({ reason }) => WITHOUT_RECORD.has(reason));
}

/**
 * Returns claims for DNSEndpoints that no owner plans now, so that two sources do not publish a host.
 *
 * | DNSEndpoint of a source                                            | keeps its hosts                     |
 * |--------------------------------------------------------------------|-------------------------------------|
 * | that cannot be decided yet, or that no owner selects and whose owner does not exist | that no selected source has |
 * | that no owner selects, of another owner, which removes it          | from other namespaces               |
 * | that no owner selects, of this owner                               | from other namespaces, if they stay |
 */
function leftovers({ owner, unselected, undecided, settings, endpointOf, isOwner }: Scene, stays: Stays): Claim[] {
  const claims = (sources: readonly Source[], kindOf: (owner?: string) => Claim['kind']): Claim[] =>
    sources.flatMap((source) => {
      const endpoint = ownEndpointOf(source, endpointOf);
      if (endpoint === undefined) return [];
      const kind = kindOf(ownerOf(endpoint));
      return [{ source: publishedBy(endpoint, source, settings), settings, endpoint, kind }];
    });
  const staying = ({ source, ...claim }: Claim): Claim => {
    const isOther = claim.kind === 'Leftover' || (claim.endpoint && ownerOf(claim.endpoint)) !== owner;
    const hosts = source.hosts.filter(({ host }) => isOther || stays(source.namespace, host));
    return { ...claim, source: { ...source, hosts } };
  };
  const isLeaving = (of = ''): Claim['kind'] => (isOwner(of) ? 'Leaving' : 'Leftover');
  return [...claims(undecided, () => 'Leftover'), ...claims(unselected, isLeaving).map(staying)];
}

/** Returns the source with the hosts and targets that its DNSEndpoint publishes under this set identifier. */
function publishedBy(endpoint: DnsEndpoint, source: Source, { clusterName }: WeightSettings): Source {
  const records = endpoint.spec?.endpoints?.filter(({ setIdentifier }) => setIdentifier === clusterName);
  const hosts = hostsIn(records).map((host) => ({ host, services: [], leadsNowhere: false }));
  return { ...source, annotations: {}, targets: targetsIn(endpoint), hosts };
}

/** Returns the OWNER_LABEL of a DNSEndpoint; undefined without the label. */
export function ownerOf({ metadata }: DnsEndpoint): string | undefined {
  return metadata?.labels?.[OWNER_LABEL];
}

/** Returns the DNSEndpoint with the name of a source, if the source controls it. */
export function ownEndpointOf(
  source: Omit<Source, 'hosts' | 'targets'>,
  endpointOf: Scene['endpointOf'],
): DnsEndpoint | undefined {
  const live = endpointOf(endpointKeyOf(source));
  return live !== undefined && isOf(live, source) ? live : undefined;
}

/** A claim whose source has its last address if it has lost it. `endpoint` is `live`, unless `live` is foreign. */
interface PlanClaim extends Claim, Pick<PlannedSource, 'live' | 'hasLostAddress'> {
  readonly foreign: string | undefined;
  readonly refusal: Refusal | undefined;
}

/** Returns the claim of a source. @param other the other owner that has the source */
function claimOf({ source, settings }: Rival, endpointOf: Scene['endpointOf'], other?: string): PlanClaim {
  const live = endpointOf(endpointKeyOf(source));
  const own = ownEndpointOf(source, endpointOf);
  const hasLostAddress = source.targets.length === 0;
  const foreign = foreignness(source, { isForeign: live !== own, other });
  const addressed = hasLostAddress && own !== undefined ? { ...source, targets: targetsIn(own) } : source;
  return {
    ...{ source: addressed, settings, live, foreign, hasLostAddress, refusal: refusalOf(addressed, settings) },
    endpoint: foreign === undefined ? live : undefined,
  };
}

/** Returns the claim of a source of another owner, which also has the hosts that its DNSEndpoint has, and that its owner takes out of its domain. */
function rivalClaim(rival: Rival, endpointOf: Scene['endpointOf']): PlanClaim {
  const claim = claimOf(rival, endpointOf);
  const served = new Set(hostsIn(claim.endpoint?.spec?.endpoints));
  const { bindingDomain } = rival.settings;
  const hosts = claim.source.hosts.filter(({ host }) => isWithin(host, bindingDomain) || served.has(host));
  return { ...claim, source: { ...claim.source, hosts }, settings: { ...rival.settings, bindingDomain: '' } };
}

/** The holder of each host, the sources whose hosts are merged, and the heir of each source. */
interface Holdings {
  readonly held: ReadonlyMap<string, Source>;
  readonly merged: ReadonlySet<Source>;
  readonly heirs: ReadonlyMap<Source, Source>;
}

function planSource(
  { source, live, foreign, endpoint, hasLostAddress, refusal }: PlanClaim,
  { held, merged, heirs }: Holdings,
  scene: Scene,
): PlannedSource {
  if (refusal !== undefined && foreign === undefined) {
    const within = source.hosts.filter(({ host }) => isWithin(host, scene.settings.bindingDomain));
    const hosts = within.map(({ host }) => ({ host, weight: undefined, ...refusal }));
    return { source, hosts, live, hasLostAddress, desired: undefined };
  }
  const { hosts, ...records } = recordsOf(source, scene.settings, {
    endpoint,
    zones: scene.zones,
    isReady: (service) => scene.isReady(serviceKey(source.namespace, service)),
    holderOf: (host) => {
      const holder = held.get(host);
      if (holder === undefined || holder === source) return undefined;
      const isSameNamespace = holder.namespace === source.namespace;
      const isShared = shareRecord(holder, source, merged.has(holder));
      return { name: nameOfSource(holder), targets: holder.targets, isShared, isSameNamespace };
    },
  });
  const planned = { source, hosts, live, hasLostAddress };
  if (foreign !== undefined) return { ...planned, desired: undefined, foreign };
  const made = dnsEndpointOf(source, { ...records, hosts }, heirs.get(source));
  const desired = made && { ...made, metadata: { ...made.metadata, labels: { [OWNER_LABEL]: scene.owner } } };
  return { ...planned, desired };
}

function foreignness(
  source: Source,
  { isForeign, other }: { readonly isForeign: boolean; readonly other: string | undefined },
): string | undefined {
  const name = `DNSEndpoint ${endpointKeyOf(source)}`;
  if (isForeign) return `${name} is not controlled by this ${source.kind}; not touched`;
  return other === undefined ? undefined : `${name} belongs to ${other}; not touched`;
}

function byKey(a: Source, b: Source): number {
  return endpointKeyOf(a) < endpointKeyOf(b) ? -1 : 1;
}

/** Returns whether external-dns has read the present generation of the DNSEndpoint. */
export function isObserved({ metadata, status }: DnsEndpoint): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata?.generation ?? 0);
}
