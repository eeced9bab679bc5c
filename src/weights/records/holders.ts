import { isWithin, normal } from './domain.ts';
import type { DnsEndpoint } from './endpoint.ts';
import { askedBy, keyOfSource, type WeightSettings } from './records.ts';
import type { Source } from './source.ts';

/** A source that asks for the records of its hosts. */
export interface Claim {
  readonly source: Source;
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
 * | both have it, or neither | the older one, then the first by name  |
 */
export function holders(claims: readonly Claim[], settings: WeightSettings): Map<string, Source> {
  const byHost = new Map<string, Claim & { readonly serves: boolean }>();
  for (const claim of claims.filter((each) => canHaveRecords(each, settings)).sort(byAge)) {
    const served = new Set(claim.endpoint?.spec?.endpoints?.map(({ dnsName }) => normal(dnsName)));
    for (const { host } of claim.source.hosts) {
      if (!isWithin(host, settings.bindingDomain)) continue;
      const holder = byHost.get(host);
      const serves = served.has(host);
      if (holder === undefined || (serves && !holder.serves)) byHost.set(host, { ...claim, serves });
    }
  }
  return new Map([...byHost].map(([host, { source }]) => [host, source]));
}

function canHaveRecords({ source, endpoint }: Claim, settings: WeightSettings): boolean {
  return source.targets.length > 0 && askedBy(source, settings, endpoint).share !== undefined;
}

function byAge({ source: a }: Claim, { source: b }: Claim): number {
  return compare(a.createdAt, b.createdAt) || compare(keyOfSource(a), keyOfSource(b));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
