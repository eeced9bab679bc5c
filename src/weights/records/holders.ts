import { APPLIED_HASH_ANNOTATION } from '../../runtime/apply/difference.ts';
import { isWithin } from './domain.ts';
import { hostsIn, type DnsEndpoint } from './endpoint.ts';
import { askedBy, type WeightSettings } from './records.ts';
import { byAge, endpointKeyOf, INGRESS, type Aged, type Source, type SourceHost } from './source.ts';

/** A source that claims the records of its hosts. */
export interface Claim {
  readonly source: Source;
  readonly settings: WeightSettings;
  /** The present DNSEndpoint of the source; undefined without one. */
  readonly endpoint: DnsEndpoint | undefined;
  /**
   * `Selected` (default): a TrafficWeight selects the source. `Leaving`: none does, and a TrafficWeight removes its records, or keeps them until the
   * removal is confirmed. `Leftover`: nothing plans its records, or whether it is selected is not known.
   */
  readonly kind?: 'Selected' | 'Leaving' | 'Leftover';
}

/**
 * Returns the source that has the records of each host within the domain, by host. Only a source that can have records takes
 * part: it has an address, and its annotation is or was valid.
 *
 * | of two such sources                | the host belongs to                    |
 * |------------------------------------|----------------------------------------|
 * | one has records of the host        | this source: no change of another Ingress takes its traffic |
 * | both have, and a TrafficWeight selects one | this source                    |
 * | both have, and the operator wrote the records of one | this source: whoever may write a DNSEndpoint can give it any host |
 * | else, and one is in the last namespace of the host | this source: a team that replaces its Ingress keeps the host |
 * | else                               | the older source, then the first by name |
 * | of these, one is leaving, and selected ones of its namespace ask for the host | the oldest of these: a team that replaces its Ingress keeps the host |
 *
 * @param before the last namespace of each host
 */
export function holders(
  claims: readonly Claim[],
  before: ReadonlyMap<string, string> = new Map(),
): Map<string, Source> {
  const byHost = new Map<string, Claim & { readonly rank: number }>();
  for (const claim of claims.filter(canHaveRecords).sort((a, b) => byAge(aged(a), aged(b)))) {
    const served = new Set(hostsIn(claim.endpoint?.spec?.endpoints));
    const servedRank = rankOf(claim);
    for (const { host } of claim.source.hosts) {
      if (!isWithin(host, claim.settings.bindingDomain)) continue;
      const holder = byHost.get(host);
      const wasHere = Number(before.get(host) === claim.source.namespace);
      const rank = served.has(host) ? servedRank + wasHere : wasHere;
      if (holder === undefined || rank > holder.rank) byHost.set(host, { ...claim, rank });
    }
  }
  handOver(claims, byHost);
  return new Map([...byHost].map(([host, { source }]) => [host, source]));
}

/** Gives hosts of leaving sources to the oldest selected source of their namespace that asks for them. */
function handOver(claims: readonly Claim[], byHost: Map<string, Claim & { readonly rank: number }>): void {
  if (!claims.some(({ kind }) => kind === 'Leaving')) return;
  const selected = claims.filter((claim) => (claim.kind ?? 'Selected') === 'Selected' && canHaveRecords(claim));
  for (const claim of selected.sort((a, b) => byAge(aged(a), aged(b)))) {
    for (const { host } of claim.source.hosts) {
      const holder = byHost.get(host);
      const isLeaving = holder?.kind === 'Leaving' && holder.source.namespace === claim.source.namespace;
      if (isLeaving && isWithin(host, claim.settings.bindingDomain)) byHost.set(host, { ...claim, rank: holder.rank });
    }
  }
}

/** Returns the rank of a source that has records of a host: even, above the ranks of those without. */
function rankOf({ endpoint, kind }: Claim): number {
  if (kind === 'Leftover') return 2;
  return endpoint?.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === undefined ? 4 : 6;
}

/** Whether a source has an address, and an annotation that is or was valid. */
export function canHaveRecords({ source, settings, endpoint }: Claim): boolean {
  return source.targets.length > 0 && askedBy(source, settings, endpoint).share !== undefined;
}

/** Returns the fields by which claims are compared for their age. */
export function aged({ source }: Claim): Aged {
  return { createdAt: source.createdAt, name: endpointKeyOf(source) };
}

/**
 * Merges the hosts that several sources of one namespace share: one redirects to HTTPS, each has a path, or one is a canary. If the
 * sources have the same addresses, the host gets one record, for the Services of all of them. Sources of another namespace are not
 * merged: their owner could take the host off the DNS with a rule without backends.
 *
 * @param sources the selected sources
 */
export function withSharedHosts(sources: readonly Source[]): Source[] {
  const sharing = Map.groupBy(
    sources.flatMap(({ namespace, targets, hosts }) => {
      const addresses = JSON.stringify(targets);
      return hosts.map((host) => ({ host, key: `${namespace} ${host.host} ${addresses}` }));
    }),
    ({ key }) => key,
  );
  const together = new Map<SourceHost, SourceHost>();
  for (const all of sharing.values()) {
    if (all.length === 1) continue;
    const shared = joined(all.map(({ host }) => host));
    for (const { host } of all) together.set(host, shared);
  }
  const isSharing = ({ hosts }: Source): boolean => hosts.some((host) => together.has(host));
  return sources.map((source) =>
    isSharing(source) ? { ...source, hosts: source.hosts.map((host) => together.get(host) ?? host) } : source,
  );
}

/**
 * Returns whether the record of a host of `holder` also serves `source`: both have the same addresses, or `source` has none yet.
 *
 * @param isMerged whether both are selected: otherwise the Services of an Ingress do not count, and it must be named
 */
export function shareRecord(holder: Source, source: Source, isMerged: boolean): boolean {
  if (!isMerged && [holder, source].some(({ kind }) => kind === INGRESS)) return false;
  return source.targets.length === 0 || JSON.stringify(holder.targets) === JSON.stringify(source.targets);
}

/** @param all hosts of one name, of one namespace; at least one */
function joined(all: readonly SourceHost[]): SourceHost {
  return {
    host: all[0]?.host ?? '',
    services: [...new Set(all.flatMap(({ services }) => services))].sort(),
    leadsNowhere: all.some(({ leadsNowhere }) => leadsNowhere),
  };
}
