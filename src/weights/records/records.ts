import { firstOf } from '../../runtime/controller/conditions.ts';
import { isWithin } from './domain.ts';
import {
  endpointsOf,
  keptIn,
  type DnsEndpoint,
  type Endpoint,
  type KeptShare,
  type RecordSettings,
} from './endpoint.ts';
import { publishedOf, type KnownZones, type Published, type PublishProblem } from '../zone/published.ts';
import type { Source, SourceHost, Targets } from './source.ts';
import { readShare, weightOf, type WeightFactors } from './weight.ts';

/** Settings of the hosts that get records, and of their weights. */
export interface WeightSettings extends RecordSettings {
  /** Hosts outside of this domain are ignored. Empty: no host is ignored. */
  readonly bindingDomain: string;
  /** Prefix of the annotation with a share of the weight. */
  readonly annotationPrefix: string;
  /** Integer, 0 to 255. */
  readonly clusterWeight: number;
}

/** Another source that has the records of a host. */
export interface Holder {
  /** For users. */
  readonly name: string;
  readonly targets: readonly Targets[];
  /** Whether its records also serve this source: see holders.ts. */
  readonly isShared: boolean;
  readonly isSameNamespace: boolean;
}

/** The inputs of `recordsOf` besides the source and the settings. */
export interface Surroundings {
  /** The present DNSEndpoint of the source; undefined if it does not exist, or is foreign. */
  readonly endpoint: DnsEndpoint | undefined;
  /** Returns whether a Service in the source's namespace has a ready endpoint. */
  readonly isReady: (service: string) => boolean;
  /** Returns the other source that has the records of a host; undefined if this source has them. */
  readonly holderOf: (host: string) => Holder | undefined;
  /** The zones in which the records are published. */
  readonly zones: KnownZones;
}

/** The reason for the weight of a host. */
export type WeightReason =
  | 'ClusterWeight'
  | 'Annotation'
  | 'NoReadyEndpoints'
  | 'InvalidAnnotation'
  | 'Conflict'
  | 'SharedHost'
  | 'OtherNamespace'
  | 'NameTooLong'
  | 'TooLarge'
  | PublishProblem['reason'];

/** The weight of one host. */
export interface HostWeight {
  readonly host: string;
  /** Integer, 0 to 255; undefined if the host has no record. */
  readonly weight: number | undefined;
  readonly reason: WeightReason;
  /** The factors of the weight; absent without a record. */
  readonly factors?: WeightFactors;
  /** For users; absent if nothing is wrong. */
  readonly problem?: string;
}

/** The records of one source. `endpoints` is empty if it has none. */
export interface SourceRecords {
  readonly endpoints: readonly Endpoint[];
  /** To be stored in the DNSEndpoint; undefined if the annotation was never valid. */
  readonly kept: KeptShare | undefined;
  readonly hosts: readonly HostWeight[];
}

/**
 * Returns the record sets of a source, one for each of its hosts within the domain and each kind of address.
 *
 * | host | record |
 * |---|---|
 * | annotation invalid, no valid value known, and no record | none |
 * | another source has it | none. A source with the same addresses has no conflict; in another namespace, it does not count for the weight |
 * | no zone would take it, or a zone is not read yet | none; a record that was written before stays, and follows the weight |
 * | one of its Services has no ready endpoint, or one of its rules leads nowhere | weight 0 |
 * | annotation invalid | as with the last valid value; if none is known, the weight of the present records, at most the cluster's |
 * | otherwise | by the cluster's weight and the annotation, see weightOf |
 *
 * publishedOf decides the types of the records and their TTLs.
 */
export function recordsOf(source: Source, settings: WeightSettings, around: Surroundings): SourceRecords {
  const asked = askedBy(source, settings, around.endpoint);
  const decided = source.hosts
    .filter(({ host }) => isWithin(host, settings.bindingDomain))
    .map((each) => {
      const desired = { host: each.host, targets: source.targets, settings };
      const published = publishedOf(desired, around.endpoint, around.zones);
      return {
        host: decideHost(each, { ...asked, published, targets: source.targets }, settings, around),
        targets: published.targets,
      };
    });
  const endpoints = decided.flatMap(({ host, targets }) =>
    host.weight === undefined ? [] : endpointsOf(host, host.weight, targets, settings),
  );
  const hosts = decided.map(({ host }) => host);
  return { endpoints, kept: asked.share, hosts };
}

/** Why a host leads nowhere. */
const NOWHERE = 'a rule has no backend, or a backend does not resolve';
/** Services and addresses that a message names: an Ingress may have hundreds. */
const MOST_NAMED = 3;

/** The share of the weight that an annotation asks for. */
export interface Asked {
  /** The present or last valid share; undefined if the annotation was never valid. */
  readonly share: KeptShare | undefined;
  /** The problem of the annotation, for users; undefined if it is valid. */
  readonly problem: string | undefined;
}

/** Reads the annotation of a source. @param endpoint the present DNSEndpoint of the source */
export function askedBy({ annotations }: Source, { annotationPrefix }: WeightSettings, endpoint?: DnsEndpoint): Asked {
  const annotation = `${annotationPrefix}/traffic-weight`;
  const text = annotations[annotation];
  if (text === undefined) return { share: { kind: 'None' }, problem: undefined };
  const read = readShare(text);
  if ('value' in read) return { share: { kind: 'Percent', percent: read.value }, problem: undefined };
  const share = keptIn(endpoint);
  return { share, problem: `annotation ${annotation}: ${read.problem}; ${holding(share)}` };
}

/** Returns the weight that applies while the annotation is invalid, for users. */
function holding(share: KeptShare | undefined): string {
  if (share === undefined) return 'there is no record until it is valid';
  if (share.kind === 'None') return "the cluster's weight stays";
  return share.kind === 'Percent' ? `the last valid value ${share.percent} stays` : `the weight ${share.weight} stays`;
}

function decideHost(
  { host, services, leadsNowhere }: SourceHost,
  { share, problem: invalid, published, targets }: Asked & Pick<Source, 'targets'> & { readonly published: Published },
  { clusterWeight }: WeightSettings,
  { isReady, holderOf }: Surroundings,
): HostWeight {
  const none = { host, weight: undefined };
  if (share === undefined) return { ...none, reason: 'InvalidAnnotation', problem: invalid ?? '' };
  const holder = holderOf(host);
  if (holder !== undefined) return { ...none, ...heldBy(holder, host, targets) };
  const { problem: unpublished } = published;
  if (unpublished !== undefined && published.targets.length === 0) return { ...none, ...unpublished };
  const unready = services.filter((service) => !isReady(service));
  const isServed = !leadsNowhere && unready.length === 0;
  const factors = factorsOf(share, { clusterWeight, isReady: isServed });
  const weighted = { host, weight: weightOf(factors), factors };
  const missing = unready.length === 0 ? NOWHERE : `no ready endpoint of Service ${firstOf(unready, MOST_NAMED)}`;
  const problems = [isServed ? undefined : missing, invalid, unpublished?.problem].filter((each) => each !== undefined);
  const problem = problems.length === 0 ? {} : { problem: problems.join('; ') };
  const fine = share.kind === 'None' ? 'ClusterWeight' : 'Annotation';
  const decisive = isServed ? (invalid === undefined ? fine : 'InvalidAnnotation') : 'NoReadyEndpoints';
  return { ...weighted, reason: unpublished?.reason ?? decisive, ...problem };
}

/** Returns the reason why a host of another source gets no record here. @param own the addresses of this source */
function heldBy(holder: Holder, host: string, own: readonly Targets[]): Pick<HostWeight, 'reason' | 'problem'> {
  const held = `${holder.name} has the records of ${host}`;
  if (!holder.isShared) return { reason: 'Conflict', problem: `${held}, ${conflict(holder.targets, own)}` };
  if (holder.isSameNamespace) return { reason: 'SharedHost' };
  return {
    reason: 'OtherNamespace',
    problem: `${held}; an object of another namespace does not count for their weight`,
  };
}

/** Returns the cause of a conflict, and what to do, for users. */
function conflict(theirs: readonly Targets[], own: readonly Targets[]): string {
  const [first, second] = [theirs, own].map((each) =>
    firstOf(
      each.flatMap(({ targets }) => targets),
      MOST_NAMED,
    ),
  );
  const remove = 'or remove the host from one of the two';
  if (first === second)
    return `which this TrafficWeight does not decide. Select both with one TrafficWeight, ${remove}`;
  return `which lead to ${first} instead of ${second}. Give both the same load balancer, ${remove}`;
}

function factorsOf(share: KeptShare, factors: Omit<WeightFactors, 'share'>): WeightFactors {
  if (share.kind === 'Percent') return { ...factors, share: share.percent };
  // Also without a known share, a cluster of weight 0 gets no traffic.
  const most = share.kind === 'Weight' ? share.weight : factors.clusterWeight;
  return { ...factors, clusterWeight: Math.min(most, factors.clusterWeight), share: undefined };
}
