import type { RecordSet, Zone } from './recordSets.ts';

/** DNSLimitations.html of Route 53's developer guide: weighted record sets of one name and type. */
const MOST_WEIGHTED = 100;

/** The records that one host asks for. */
export interface AskedRecords {
  /** A DNS name in lower case, without the dot at its end. */
  readonly host: string;
  readonly types: readonly string[];
  /** Set identifier of the records. */
  readonly clusterName: string;
  /** Seconds. */
  readonly ttl: number;
}

/** Why Route 53 would not take a record. */
export interface Refusal {
  readonly reason: 'RecordInTheWay' | 'TooManyRecords';
  /** For users. */
  readonly problem: string;
}

/** What the zones say of the records of one host. */
export interface ZoneVerdict {
  /** Absent if Route 53 would take all. */
  readonly refusal?: Refusal;
  /** By type of record, the TTL of the other clusters' records where it is not the one that is asked for; absent if there is none. */
  readonly otherTtls?: ReadonlyMap<string, number>;
  /** What is wrong with the TTL, for users; absent if nothing is. */
  readonly ttlProblem?: string;
}

const NOTHING: ZoneVerdict = {};

/**
 * Whether Route 53 would take the records of a host, by what its zones have.
 *
 * | the zone has, of this name                          | verdict          |
 * |-----------------------------------------------------|------------------|
 * | a simple record of the type                         | RecordInTheWay   |
 * | a CNAME, or a simple record where a CNAME is asked for | RecordInTheWay |
 * | a record of the type with another routing policy    | RecordInTheWay   |
 * | 100 weighted records of the type, all of other clusters | TooManyRecords |
 * | weighted records of other clusters with another TTL | their TTL        |
 *
 * Route 53 answers each of these with InvalidChangeBatch: "a non-weighted set exists with the same name and type", "weighted
 * sets must contain the same TTL". external-dns logs that, and nobody else is told.
 */
export function verdictOf(zones: readonly Zone[], asked: AskedRecords): ZoneVerdict {
  const verdicts = zones.flatMap((zone) => {
    const sets = zone.sets.get(asked.host);
    return sets === undefined ? [] : [verdictIn(zone.id, sets, asked)];
  });
  return verdicts.find(({ refusal }) => refusal) ?? verdicts.find(({ otherTtls }) => otherTtls) ?? NOTHING;
}

function verdictIn(id: string, sets: readonly RecordSet[], asked: AskedRecords): ZoneVerdict {
  const others = sets.filter(({ setIdentifier }) => setIdentifier !== asked.clusterName);
  for (const type of asked.types) {
    const refusal = refusalOf(id, { sets, others, type }, asked);
    if (refusal !== undefined) return { refusal };
  }
  const found = asked.types.flatMap((type) => {
    const other = others.find((set) => set.type === type && set.ttl !== undefined && set.ttl !== asked.ttl);
    return other?.ttl === undefined ? [] : [{ type, ttl: other.ttl, of: other.setIdentifier ?? '' }];
  });
  const [first] = found;
  if (first === undefined) return NOTHING;
  return {
    otherTtls: new Map(found.map(({ type, ttl }) => [type, ttl])),
    ttlProblem:
      `the ${first.type} record of "${first.of}" in the zone ${id} has a TTL of ${first.ttl} s, and all clusters need the ` +
      `same: ${first.ttl} s is taken in place of ${asked.ttl} s`,
  };
}

interface OfType {
  readonly sets: readonly RecordSet[];
  /** Those of other clusters, and simple ones. */
  readonly others: readonly RecordSet[];
  readonly type: string;
}

function refusalOf(id: string, { sets, others, type }: OfType, { host }: AskedRecords): Refusal | undefined {
  // A weighted one of another type may stay beside a CNAME: external-dns makes an alias of that if it leads to a load balancer of AWS.
  const unlike = others.find(
    (set) => set.type !== type && (set.type === 'CNAME' || (type === 'CNAME' && isSimple(set))),
  );
  if (unlike !== undefined) {
    return inTheWay(`the zone ${id} has the ${unlike.type} record ${host}, and no ${type} record goes beside it`);
  }
  const same = others.filter((set) => set.type === type);
  if (same.some(isSimple)) {
    const problem = `the zone ${id} has the ${type} record ${host} without a weight, and no weighted one goes beside it`;
    return inTheWay(`${problem}: remove it, or give it a set identifier and a weight`);
  }
  const unweighted = same.find(({ isWeighted }) => !isWeighted);
  if (unweighted !== undefined) {
    const of = `the ${type} record of ${host} with the set identifier "${unweighted.setIdentifier}"`;
    return inTheWay(`in the zone ${id}, ${of} has another routing policy, and no weighted one goes beside it`);
  }
  const isThere = sets.length > others.length;
  if (isThere || same.length < MOST_WEIGHTED) return undefined;
  const problem = `the zone ${id} has ${same.length} weighted ${type} records of ${host}: Route 53 takes ${MOST_WEIGHTED} at most`;
  return { reason: 'TooManyRecords', problem };
}

function isSimple({ setIdentifier }: RecordSet): boolean {
  return setIdentifier === undefined;
}

function inTheWay(problem: string): Refusal {
  return { reason: 'RecordInTheWay', problem };
}
