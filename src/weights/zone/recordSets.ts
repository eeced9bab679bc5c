import { isWithin, normal } from '../records/domain.ts';

/**
 * Types of the record sets that are compared. A CNAME takes no other record beside it, such as TXT or MX, either; but external-dns
 * publishes a CNAME to a load balancer of AWS as an alias, which does.
 */
const ADDRESS_TYPES: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME']);

/** A record set of a zone: the part that decides whether Route 53 takes another one of its name. */
export interface RecordSet {
  readonly type: string;
  /** Absent: a simple record, which has no other one beside it. */
  readonly setIdentifier?: string;
  /** Whether it has a weight. False with another routing policy, and for a simple record. */
  readonly isWeighted: boolean;
  /** Seconds. Absent for an alias, which has that of its target. */
  readonly ttl?: number;
}

/** What a hosted zone has. Names are in lower case, without the dot at their end. */
export interface Zone {
  readonly id: string;
  /** The domain of the zone; empty if its SOA record is not known. */
  readonly domain: string;
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

/** The zone with these record sets. One that is stated twice counts once: a zone that changes between two pages may repeat it. */
export function zoneOf(id: string, stated: readonly StatedSet[]): Zone {
  const distinct = new Map(
    stated.map((set) => [JSON.stringify([set.Name, set.Type, set.SetIdentifier ?? null]), set] as const),
  );
  const all = [...distinct.values()];
  const sets = Map.groupBy(
    all.filter(({ Type = '' }) => ADDRESS_TYPES.has(Type)),
    ({ Name = '' }) => hostOf(Name),
  );
  return {
    id,
    domain: hostOf(all.find(({ Type }) => Type === 'SOA')?.Name ?? ''),
    sets: new Map([...sets].map(([host, each]) => [host, each.map(setOf)])),
  };
}

/**
 * The zones that publish a host: those with the longest domain that it is within, as external-dns chooses them. A public and a
 * private zone of one domain are two.
 */
export function zonesOfHost(zones: readonly Zone[], host: string): Zone[] {
  const around = zones.filter(({ domain }) => isWithin(host, domain));
  const longest = Math.max(...around.map(({ domain }) => domain.length));
  return around.filter(({ domain }) => domain.length === longest);
}

function setOf({ Type = '', SetIdentifier, Weight, TTL }: StatedSet): RecordSet {
  return {
    type: Type,
    ...(SetIdentifier !== undefined && { setIdentifier: SetIdentifier }),
    isWeighted: Weight !== undefined,
    ...(TTL !== undefined && { ttl: TTL }),
  };
}

/**
 * The host of a name as Route 53 states it: with octal escapes, such as `\052.example.org.` for a wildcard
 * (DomainNameFormat.html of its developer guide).
 */
function hostOf(name: string): string {
  return normal(name.replace(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
}
