import { isWithin, normal } from '../records/domain.ts';

/**
 * Types of the record sets that are compared. DNS allows no record of any type, such as TXT or MX, next to a CNAME, but those types
 * are not compared: external-dns publishes a CNAME to a load balancer of AWS as an alias, which allows them.
 */
const ADDRESS_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME']);

/** A record set of a zone: the fields that decide whether Route 53 accepts a further record set of its name. */
export interface RecordSet {
  readonly type: string;
  /** Absent for a simple record, which is the only record set of its name and type. */
  readonly setIdentifier?: string;
  /** 0 to 255. Absent with another routing policy, and for a simple record. */
  readonly weight?: number;
  /** Seconds. Absent for an alias, which has the TTL of its target. */
  readonly ttl?: number;
}

/** A hosted zone. Names are in lower case, without the dot at their end. */
export interface Zone {
  readonly id: string;
  /** The domain of the zone; empty if its SOA record is not known. */
  readonly domain: string;
  /** Names below the domain whose NS records lead to other name servers: records within them have no effect. */
  readonly delegations: ReadonlySet<string>;
  /** The record sets that lead to an address, by host. */
  readonly sets: ReadonlyMap<string, readonly RecordSet[]>;
}

/** A record set as Route 53 states it: ResourceRecordSet of its API reference, the fields that are read here. */
export interface StatedSet {
  readonly Name?: string | undefined;
  readonly Type?: string | undefined;
  readonly SetIdentifier?: string | undefined;
  readonly Weight?: number | undefined;
  readonly TTL?: number | undefined;
}

/** Returns the zone with these record sets. A repeated record set counts once: a zone that changes between two pages may repeat it. */
export function zoneOf(id: string, stated: readonly StatedSet[]): Zone {
  const distinct = new Map(
    stated.map((set) => [JSON.stringify([set.Name, set.Type, set.SetIdentifier ?? null]), set] as const),
  );
  const all = [...distinct.values()];
  const sets = Map.groupBy(
    all.filter(({ Type = '' }) => ADDRESS_TYPES.has(Type)),
    ({ Name = '' }) => hostOf(Name),
  );
  const domain = hostOf(all.find(({ Type }) => Type === 'SOA')?.Name ?? '');
  const servers = all.filter(({ Type }) => Type === 'NS').map(({ Name = '' }) => hostOf(Name));
  return {
    ...{ id, domain, delegations: new Set(servers.filter((name) => name !== domain)) },
    sets: new Map([...sets].map(([host, each]) => [host, each.map(setOf)])),
  };
}

/**
 * Returns the zones that publish a host: the zones with the longest domain that contains it, as in external-dns. A public and a
 * private zone of one domain are two zones.
 */
export function zonesOfHost(zones: readonly Zone[], host: string): Zone[] {
  const around = zones.filter(({ domain }) => isWithin(host, domain));
  const longest = Math.max(...around.map(({ domain }) => domain.length));
  return around.filter(({ domain }) => domain.length === longest);
}

/** Returns the name that a zone delegates to other name servers, and that contains a host; undefined without one. */
export function delegationOf({ delegations }: Zone, host: string): string | undefined {
  const labels = host.split('.');
  return labels.map((_, n) => labels.slice(n).join('.')).find((name) => delegations.has(name));
}

/** Returns whether a host has the name of a zone, or too few labels to be within a zone of a customer, as `example.org`. */
export function isApex(zones: readonly Zone[], host: string): boolean {
  if (host.startsWith('*')) return false;
  return host.split('.').length <= 2 || zones.some(({ domain }) => domain === host);
}

function setOf({ Type = '', SetIdentifier, Weight, TTL }: StatedSet): RecordSet {
  return {
    type: Type,
    ...(SetIdentifier !== undefined && { setIdentifier: SetIdentifier }),
    ...(Weight !== undefined && { weight: Weight }),
    ...(TTL !== undefined && { ttl: TTL }),
  };
}

/**
 * Returns the host of a name of Route 53, which has octal escapes, such as `\052.example.org.` for a wildcard
 * (DomainNameFormat.html of its developer guide).
 */
function hostOf(name: string): string {
  return normal(name.replace(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
}

/** The start of a page of a zone; opaque. */
export type PageStart = Readonly<Record<string, string | undefined>>;

/** Some record sets of a zone. */
export interface ZonePage {
  readonly sets: readonly StatedSet[];
  /** The start of the next page; undefined after the last page. */
  readonly next: PageStart | undefined;
}

/** Reads hosted zones, with one request for each page. */
export interface ZoneReader {
  /**
   * Reads one page.
   *
   * @param from undefined for the first page
   * @throws Error with a message for users
   */
  page(id: string, from: PageStart | undefined, signal: AbortSignal): Promise<ZonePage>;
  close(): void;
}
