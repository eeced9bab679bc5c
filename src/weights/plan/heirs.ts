import { heirUidOf } from '../records/dnsEndpoint.ts';
import { hostsIn, type DnsEndpoint } from '../records/endpoint.ts';
import { aged, canHaveRecords, type Claim } from '../records/holders.ts';
import { byAge, type Source } from '../records/source.ts';

/** A claim for records, and why it gets none of its own. */
interface Claimant extends Claim {
  readonly foreign: string | undefined;
  readonly refusal: object | undefined;
}

/**
 * Returns the heir of each source: the oldest other source of its namespace that asks for a host of it. The namespace must be the
 * same, since an owner of another namespace does not count.
 */
export function heirsOf(claims: readonly Claimant[], held: ReadonlyMap<string, Source>): Map<Source, Source> {
  const heirs = new Map<Source, Source>();
  const waiting = claims.filter(({ foreign, refusal }) => foreign === undefined && refusal === undefined);
  for (const { source } of waiting.filter(canHaveRecords).sort((a, b) => byAge(aged(a), aged(b)))) {
    for (const { host } of source.hosts) {
      const holder = held.get(host);
      const isOther = holder !== undefined && holder.uid !== source.uid && holder.namespace === source.namespace;
      if (isOther && !heirs.has(holder)) heirs.set(holder, source);
    }
  }
  return heirs;
}

/** Returns the DNSEndpoints of deleted sources that are left to a selected source. @param own the DNSEndpoints of this owner */
export function inheritedIn(own: readonly DnsEndpoint[], sources: readonly Source[]): ReadonlySet<DnsEndpoint> {
  const uids = new Set(sources.map(({ uid }) => uid));
  return new Set(own.filter((each) => uids.has(heirUidOf(each) ?? '')));
}

/** Returns the inherited DNSEndpoints of which this plan gives records to all hosts that a selected source asks for. @param given the hosts with records */
export function takenOver(
  inherited: ReadonlySet<DnsEndpoint>,
  sources: readonly Source[],
  given: ReadonlySet<string>,
): readonly DnsEndpoint[] {
  if (inherited.size === 0) return [];
  const asked = sources.flatMap(({ hosts }) => hosts.map(({ host }) => host));
  const open = new Set(asked.filter((host) => !given.has(host)));
  return [...inherited].filter(({ spec }) => !hostsIn(spec?.endpoints).some((host) => open.has(host)));
}
