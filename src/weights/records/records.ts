import { isWithin } from './domain.ts';
import {
  DEFAULT_TTL,
  endpointsOf,
  hostsIn,
  keptIn,
  type DnsEndpoint,
  type Endpoint,
  type KeptShare,
  type RecordSettings,
} from './endpoint.ts';
import type { Zone } from '../zone/recordSets.ts';
import { verdictOf, type ZoneVerdict } from '../zone/verdict.ts';
import type { Source, SourceHost } from './source.ts';
import { readShare, weightOf, type WeightFactors } from './weight.ts';

/** Which hosts get records, and how they are weighted. */
export interface WeightSettings extends RecordSettings {
  /** Hosts outside of it are ignored. Empty: none is. */
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
  /** Whether they are those of this source, too: see sharedHosts.ts. */
  readonly isShared: boolean;
}

/** What decides about the records of one source, besides its own fields. */
export interface Surroundings {
  /** The source's DNSEndpoint as it is; undefined if there is none, or it is not ours. */
  readonly endpoint: DnsEndpoint | undefined;
  /** Whether a Service in the source's namespace has a ready endpoint. */
  readonly isReady: (service: string) => boolean;
  /** Who has the records of a host; undefined if this source has them. */
  readonly holderOf: (host: string) => Holder | undefined;
  /** Where the records are to be published, as far as that is known. */
  readonly zones: readonly Zone[];
}

/** Why a host has the weight that it has. */
export type WeightReason =
  | 'ClusterWeight'
  | 'Annotation'
  | 'NoReadyEndpoints'
  | 'InvalidAnnotation'
  | 'Conflict'
  | 'SharedHost'
  | 'RecordInTheWay'
  | 'TooManyRecords'
  | 'DifferentTTL';

/** What is decided about one host. */
export interface HostWeight {
  readonly host: string;
  /** Undefined: it has no record. */
  readonly weight: number | undefined;
  readonly reason: WeightReason;
  /** What the weight is made of; absent without a record. */
  readonly factors?: WeightFactors;
  /** By type of record, the TTL that its records have in place of the one that is asked for, seconds. */
  readonly otherTtls?: ZoneVerdict['otherTtls'];
  /** For users; absent if nothing is wrong. */
  readonly problem?: string;
}

/** The records of one source. `endpoints` is empty if it has none. */
export interface SourceRecords {
  readonly endpoints: readonly Endpoint[];
  /** To be kept with the DNSEndpoint; undefined if the annotation never was valid. */
  readonly kept: KeptShare | undefined;
  readonly hosts: readonly HostWeight[];
}

/**
 * The record sets of a source, one for each of its hosts within the domain and each kind of address.
 *
 * | host | record |
 * |---|---|
 * | annotation invalid, no valid value known, and no record | none |
 * | another source has it | none; for a route with the same addresses that is no conflict |
 * | a zone would not take it | none; one that was written before stays, and follows the weight |
 * | a Service of it has no ready endpoint, or a rule of it leads nowhere | weight 0 |
 * | annotation invalid | as with the last valid value; if none is known, the weight that the records had, at most the cluster's |
 * | otherwise | the cluster's weight and the annotation decide, see weightOf |
 *
 * Where a zone has another TTL, that one is taken: with the one that is asked for, no change of the weight would arrive.
 */
export function recordsOf(source: Source, settings: WeightSettings, around: Surroundings): SourceRecords {
  const asked = askedBy(source, settings, around.endpoint);
  const hosts = source.hosts
    .filter(({ host }) => isWithin(host, settings.bindingDomain))
    .map((host) =>
      decideHost(host, { ...asked, verdict: verdictOn(host, source, settings, around) }, settings, around),
    );
  const endpoints = hosts.flatMap((host) =>
    host.weight === undefined ? [] : endpointsOf(host, host.weight, source.targets, settings),
  );
  return { endpoints, kept: asked.share, hosts };
}

/** Services that a message names. */
const MOST_NAMED = 3;

/** What an annotation asks for. */
export interface Asked {
  /** Undefined: it is invalid, and always was. */
  readonly share: KeptShare | undefined;
  /** What is wrong with the annotation. */
  readonly problem: string | undefined;
}

/** What the annotation of a source asks for. @param endpoint the source's DNSEndpoint as it is */
export function askedBy({ annotations }: Source, { annotationPrefix }: WeightSettings, endpoint?: DnsEndpoint): Asked {
  const annotation = `${annotationPrefix}/traffic-weight`;
  const text = annotations[annotation];
  if (text === undefined) return { share: { kind: 'None' }, problem: undefined };
  const read = readShare(text);
  if ('value' in read) return { share: { kind: 'Percent', percent: read.value }, problem: undefined };
  const share = keptIn(endpoint);
  return { share, problem: `annotation ${annotation}: ${read.problem}; ${holding(share)}` };
}

/** What holds while the annotation is invalid. */
function holding(share: KeptShare | undefined): string {
  if (share === undefined) return 'there is no record until it is valid';
  if (share.kind === 'None') return "the cluster's weight stays";
  return share.kind === 'Percent' ? `the last valid value ${share.percent} stays` : `the weight ${share.weight} stays`;
}

function verdictOn(
  { host }: SourceHost,
  { targets }: Source,
  { clusterName, recordTtl = DEFAULT_TTL }: WeightSettings,
  { zones }: Surroundings,
): ZoneVerdict {
  return verdictOf(zones, { host, types: targets.map(({ recordType }) => recordType), clusterName, ttl: recordTtl });
}

function decideHost(
  { host, services, leadsNowhere }: SourceHost,
  { share, problem: invalid, verdict }: Asked & { readonly verdict: ZoneVerdict },
  { clusterWeight }: WeightSettings,
  { endpoint, isReady, holderOf }: Surroundings,
): HostWeight {
  if (share === undefined) return { host, weight: undefined, reason: 'InvalidAnnotation', problem: invalid ?? '' };
  const holder = holderOf(host);
  if (holder?.isShared === true) return { host, weight: undefined, reason: 'SharedHost' };
  if (holder !== undefined) {
    return { host, weight: undefined, reason: 'Conflict', problem: `${holder.name} has the records of ${host}` };
  }
  const { refusal, otherTtls, ttlProblem } = verdict;
  const isWritten = (): boolean => hostsIn(endpoint?.spec?.endpoints).includes(host);
  if (refusal !== undefined && !isWritten()) return { host, weight: undefined, ...refusal };
  const unready = services.filter((service) => !isReady(service));
  const isServed = !leadsNowhere && unready.length === 0;
  const factors = factorsOf(share, { clusterWeight, isReady: isServed });
  const weighted = { host, weight: weightOf(factors), factors, ...(otherTtls !== undefined && { otherTtls }) };
  if (refusal !== undefined) return { ...weighted, ...refusal };
  if (!isServed) {
    const problem = unready.length === 0 ? 'a rule has no backend' : `no ready endpoint of Service ${named(unready)}`;
    return { ...weighted, reason: 'NoReadyEndpoints', problem };
  }
  if (invalid !== undefined) return { ...weighted, reason: 'InvalidAnnotation', problem: invalid };
  if (ttlProblem !== undefined) return { ...weighted, reason: 'DifferentTTL', problem: ttlProblem };
  return { ...weighted, reason: share.kind === 'None' ? 'ClusterWeight' : 'Annotation' };
}

/** The first ones by name: an Ingress may have hundreds. */
function named(services: readonly string[]): string {
  const more = services.length - MOST_NAMED;
  return `${services.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function factorsOf(share: KeptShare, factors: Omit<WeightFactors, 'share'>): WeightFactors {
  if (share.kind === 'Percent') return { ...factors, share: share.percent };
  // Also without a known share, a cluster of weight 0 gets no traffic.
  const most = share.kind === 'Weight' ? share.weight : factors.clusterWeight;
  return { ...factors, clusterWeight: Math.min(most, factors.clusterWeight), share: undefined };
}
