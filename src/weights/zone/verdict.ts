import { zonesOfHost, type RecordSet, type Zone } from './recordSets.ts';

/** DNSLimitations.html of Route 53's developer guide: weighted record sets of one name and type. */
const MOST_WEIGHTED = 100;

/** A record that a source asks for. */
export interface AskedRecord {
  /** A DNS name in lower case, without the dot at its end. */
  readonly host: string;
  readonly type: string;
  /** Set identifier of the record. */
  readonly clusterName: string;
}

/** The reason why Route 53 would not accept a record. */
export interface Refusal {
  readonly reason: 'RecordInTheWay' | 'TooManyRecords';
  /** For users. */
  readonly problem: string;
}

/** The result for a record by the contents of its zones. */
export interface ZoneVerdict {
  /** Absent if Route 53 would accept the record. */
  readonly refusal?: Refusal;
  /** The TTLs of the other clusters' weighted records of its name and type: seconds, distinct. */
  readonly otherTtls: readonly number[];
}

/**
 * Returns whether Route 53 would accept a record, by the contents of the zones of its host.
 *
 * | the zone has, of this name                          | verdict          |
 * |-----------------------------------------------------|------------------|
 * | a simple record of the type                         | RecordInTheWay   |
 * | a CNAME, or a simple record where a CNAME is asked for | RecordInTheWay |
 * | a record of the type with another routing policy    | RecordInTheWay   |
 * | 100 weighted records of the type, none of this cluster | TooManyRecords |
 *
 * Route 53 answers each of these with InvalidChangeBatch, such as "a non-weighted set exists with the same name and type", and
 * another TTL with "weighted sets must contain the same TTL". external-dns only logs these errors.
 */
export function verdictOf(zones: readonly Zone[], asked: AskedRecord): ZoneVerdict {
  const found = zonesOfHost(zones, asked.host).map(({ id, sets }) => {
    const all = sets.get(asked.host) ?? [];
    return { id, all, others: all.filter(({ setIdentifier }) => setIdentifier !== asked.clusterName) };
  });
  const [refusal] = found.flatMap((zone) => refusalIn(zone, asked) ?? []);
  const ttls = found.flatMap(({ others }) =>
    others.flatMap(({ type, isWeighted, ttl }) => (isWeighted && type === asked.type ? (ttl ?? []) : [])),
  );
  // external-dns reads a TTL of 0 as no TTL.
  return { ...(refusal !== undefined && { refusal }), otherTtls: [...new Set(ttls)].filter((ttl) => ttl > 0) };
}

/** The record sets of the host in one zone. */
interface InZone {
  readonly id: string;
  readonly all: readonly RecordSet[];
  /** Record sets of other clusters, and simple records. */
  readonly others: readonly RecordSet[];
}

function refusalIn({ id, all, others }: InZone, { host, type }: AskedRecord): Refusal | undefined {
  // A weighted record of another type is allowed next to a CNAME, which external-dns may publish as an alias.
  const unlike = others.find(
    (set) => set.type !== type && (set.type === 'CNAME' || (type === 'CNAME' && isSimple(set))),
  );
  if (unlike !== undefined) {
    return inTheWay(
      `the zone ${id} has the ${unlike.type} record ${host}, and Route 53 allows no ${type} record next to it`,
    );
  }
  const same = others.filter((set) => set.type === type);
  if (same.some(isSimple)) {
    const problem = `the zone ${id} has the ${type} record ${host} without a weight, and Route 53 allows no weighted record next to it`;
    return inTheWay(`${problem}: remove it, or give it a set identifier and a weight`);
  }
  const unweighted = same.find(({ isWeighted }) => !isWeighted);
  if (unweighted !== undefined) {
    const of = `the ${type} record of ${host} with the set identifier "${unweighted.setIdentifier}"`;
    return inTheWay(
      `in the zone ${id}, ${of} has another routing policy, and Route 53 allows no weighted record next to it`,
    );
  }
  const hasOwn = all.some((set) => set.type === type && !others.includes(set));
  if (hasOwn || same.length < MOST_WEIGHTED) return undefined;
  const problem = `the zone ${id} has ${same.length} weighted ${type} records of ${host}: Route 53 takes ${MOST_WEIGHTED} at most`;
  return { reason: 'TooManyRecords', problem };
}

function isSimple({ setIdentifier }: RecordSet): boolean {
  return setIdentifier === undefined;
}

function inTheWay(problem: string): Refusal {
  return { reason: 'RecordInTheWay', problem };
}
