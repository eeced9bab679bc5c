import { byAge, type Aged } from './age.ts';
import { isWithin } from './domain.ts';
import { hostsIn, type DnsEndpoint } from './endpoint.ts';
import { askedBy, type WeightSettings } from './records.ts';
import { endpointKeyOf, type Source } from './source.ts';

/** A source that asks for the records of its hosts. */
export interface Claim {
  readonly source: Source;
  readonly settings: WeightSettings;
  /** Its DNSEndpoint as it is; undefined if there is none. */
  readonly endpoint: DnsEndpoint | undefined;
}

/**
 * Which source has the records of each host within the domain, by host. Only a source that can have records takes part:
 * it has an address, and its annotation is valid or was.
 *
 * | of two such sources      | which has the host                     |
 * |--------------------------|----------------------------------------|
 * | one has it already       | that one: no change of another Ingress takes its traffic |
 * | neither, and one is of the namespace that had it | that one: a team that replaces its Ingress keeps the host |
 * | both have it, or neither | the older one, then the first by name  |
 *
 * @param before the namespace that had each host last
 */
export function holders(
  claims: readonly Claim[],
  before: ReadonlyMap<string, string> = new Map(),
): Map<string, Source> {
  const byHost = new Map<string, Claim & { readonly rank: number }>();
  for (const claim of claims.filter(canHaveRecords).sort((a, b) => byAge(aged(a), aged(b)))) {
    const served = new Set(hostsIn(claim.endpoint?.spec?.endpoints));
    for (const { host } of claim.source.hosts) {
      if (!isWithin(host, claim.settings.bindingDomain)) continue;
      const holder = byHost.get(host);
      const rank = served.has(host) ? 2 : Number(before.get(host) === claim.source.namespace);
      if (holder === undefined || rank > holder.rank) byHost.set(host, { ...claim, rank });
    }
  }
  return new Map([...byHost].map(([host, { source }]) => [host, source]));
}

function canHaveRecords({ source, settings, endpoint }: Claim): boolean {
  return source.targets.length > 0 && askedBy(source, settings, endpoint).share !== undefined;
}

function aged({ source }: Claim): Aged {
  return { createdAt: source.createdAt, name: endpointKeyOf(source) };
}
