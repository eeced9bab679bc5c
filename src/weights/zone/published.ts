import { isWithin, normal } from '../records/domain.ts';
import {
  DEFAULT_TTL,
  type DnsEndpoint,
  type Endpoint,
  type RecordSettings,
  type TargetsWithTtl,
} from '../records/endpoint.ts';
import type { Targets } from '../records/source.ts';
import { delegationOf, isApex, zonesOfHost, type Zone, type RecordSet } from './recordSets.ts';

/** The hosted zones in which records are published. */
export interface KnownZones {
  /** The zones that were read, now or earlier. */
  readonly zones: readonly Zone[];
  /** IDs of the zones whose first read has not ended. */
  readonly pending: readonly string[];
  /** Whether all zones were read. */
  readonly isComplete: boolean;
}

export const NO_ZONES: KnownZones = { zones: [], pending: [], isComplete: true };

/** The reason why records of a host differ from the requested records. */
export interface PublishProblem {
  readonly reason: Refusal['reason'] | 'ZoneNotRead' | 'DifferentTTL';
  readonly problem: string;
}

/** The records of a host that can be published in the zones. */
export interface Published {
  readonly targets: readonly TargetsWithTtl[];
  /** Absent if all records are published as requested. */
  readonly problem?: PublishProblem;
}

/** A requested record. */
interface Asked {
  readonly host: string;
  readonly targets: Targets;
  readonly settings: RecordSettings;
  /** The record that was written before; undefined if it is new. */
  readonly written: Endpoint | undefined;
}

/**
 * Returns the records of a host that Route 53 accepts. Decides for each type of record alone.
 *
 * | the record                                          | it is written   | its TTL                        |
 * |-----------------------------------------------------|-----------------|--------------------------------|
 * | was written before                                  | yes             | as below                       |
 * | would be refused                                    | no              |                                |
 * | is new, and a zone is being read for the first time | no, ZoneNotRead |                                |
 * | all other clusters have the same other TTL          | yes             | the TTL of the others, DifferentTTL |
 * | other clusters have several TTLs, in several zones  | yes             | as requested, DifferentTTL     |
 * | not all zones were read                             | yes             | as written before, else as requested |
 * | anything else                                       | yes             | as requested                   |
 *
 * A published record is never removed because of what a zone contains. If its TTL differed from the TTL of the other clusters,
 * Route 53 would refuse every change of its weight, also to 0.
 */
export function publishedOf(
  { host, targets, settings }: { host: string; targets: readonly Targets[]; settings: RecordSettings },
  endpoint: DnsEndpoint | undefined,
  known: KnownZones,
): Published {
  const written = (endpoint?.spec?.endpoints ?? []).filter(({ dnsName }) => normal(dnsName) === host);
  const judged = targets.map((each) =>
    judge(
      { host, targets: each, settings, written: written.find(({ recordType }) => recordType === each.recordType) },
      known,
    ),
  );
  const problem = judged.map((each) => each.problem).find((each) => each !== undefined);
  return { targets: judged.flatMap((each) => each.targets), ...(problem !== undefined && { problem }) };
}

function judge(asked: Asked, known: KnownZones): Published {
  const { host, targets, settings, written } = asked;
  const { recordType: type } = targets;
  const [target] = targets.targets;
  const { refusal, otherTtls } = verdictOf(known.zones, { host, type, target, clusterName: settings.clusterName });
  const [pending] = known.pending;
  if (written === undefined && refusal !== undefined) return { targets: [], problem: refusal };
  if (written === undefined && pending !== undefined) {
    return { targets: [], problem: { reason: 'ZoneNotRead', problem: `the zone ${pending} is not read yet` } };
  }
  const { ttl, problem } = ttlOf(asked, otherTtls, known);
  const first = refusal ?? problem;
  return { targets: [{ ...targets, ttl }], ...(first !== undefined && { problem: first }) };
}

function ttlOf(
  { host, targets, settings: { recordTtl }, written }: Asked,
  otherTtls: readonly number[],
  { isComplete }: KnownZones,
): { ttl: number | undefined; problem?: PublishProblem } {
  const asked = recordTtl ?? DEFAULT_TTL;
  const [other] = otherTtls;
  if (other === undefined) return { ttl: isComplete ? recordTtl : (written?.recordTTL ?? recordTtl) };
  if (otherTtls.every((ttl) => ttl === asked)) return { ttl: recordTtl };
  const of = `the ${targets.recordType} record of ${host}`;
  const have = `the other clusters have ${of} with a TTL of ${otherTtls.join(' s and ')} s, and all need the same`;
  const isOne = otherTtls.length === 1;
  const problem = `${have}: ${isOne ? `uses ${other} s instead of ${asked} s` : `keeps ${asked} s`}`;
  return { ttl: isOne ? other : recordTtl, problem: { reason: 'DifferentTTL', problem } };
}

/** DNSLimitations.html of Route 53's developer guide: weighted record sets of one name and type. */
const MOST_WEIGHTED = 100;

/** A record that a source asks for. */
export interface AskedRecord {
  /** A DNS name in lower case, without the dot at its end. */
  readonly host: string;
  readonly type: string;
  /** The first target. */
  readonly target: string | undefined;
  /** Set identifier of the record. */
  readonly clusterName: string;
}

/** The reason why Route 53 would not accept a record. */
interface Refusal {
  readonly reason: 'RecordInTheWay' | 'TooManyRecords' | 'Delegated' | 'NotPublishable';
  /** For users. */
  readonly problem: string;
}

/** The result for a record by the contents of its zones. */
interface ZoneVerdict {
  /** Absent if Route 53 would accept the record. */
  readonly refusal?: Refusal;
  /** The TTLs of the other clusters' weighted records of its name and type: seconds, distinct. */
  readonly otherTtls: readonly number[];
}

/**
 * Returns whether Route 53 would accept a record, by its form and by the contents of the zones of its host.
 *
 * | the record, or the record sets of its name in the zone | verdict       |
 * |-----------------------------------------------------|------------------|
 * | a label has more than 63 characters                 | NotPublishable   |
 * | a CNAME that leads to its own name, or is at the apex and no alias | NotPublishable |
 * | the zone delegates a name around the host           | Delegated        |
 * | A or AAAA of other clusters, where a CNAME that is no alias is asked for | RecordInTheWay |
 * | a simple record of the type                         | RecordInTheWay   |
 * | a CNAME, or a simple record where a CNAME is asked for | RecordInTheWay |
 * | a record of the type with another routing policy    | RecordInTheWay   |
 * | 100 weighted records of the type, none of this cluster | TooManyRecords |
 *
 * Route 53 answers each of these with InvalidChangeBatch, such as "a non-weighted set exists with the same name and type", and
 * another TTL with "weighted sets must contain the same TTL". external-dns only logs these errors.
 */
export function verdictOf(zones: readonly Zone[], asked: AskedRecord): ZoneVerdict {
  const found = zonesOfHost(zones, asked.host).map((zone) => {
    const all = zone.sets.get(asked.host) ?? [];
    return {
      id: zone.id,
      delegation: delegationOf(zone, asked.host),
      all,
      others: all.filter(({ setIdentifier }) => setIdentifier !== asked.clusterName),
    };
  });
  const refusal = formProblem(zones, asked) ?? found.map((zone) => refusalIn(zone, asked)).find((each) => each);
  const ttls = found.flatMap(({ others }) =>
    others.flatMap(({ type, weight, ttl }) => (weight !== undefined && type === asked.type ? (ttl ?? []) : [])),
  );
  // external-dns reads a TTL of 0 as no TTL.
  return { ...(refusal !== undefined && { refusal }), otherTtls: [...new Set(ttls)].filter((ttl) => ttl > 0) };
}

/** The record sets of the host in one zone. */
interface InZone {
  readonly id: string;
  /** The name around the host that the zone delegates, if any. */
  readonly delegation: string | undefined;
  readonly all: readonly RecordSet[];
  /** Record sets of other clusters, and simple records. */
  readonly others: readonly RecordSet[];
}

/** Characters of a label of a DNS name: RFC 1035. */
export const LONGEST_LABEL = 63;
/** Domains of AWS whose names external-dns publishes as an alias instead of a CNAME: canonicalHostedZones of its AWS provider. */
const ALIAS_DOMAINS = ['amazonaws.com', 'amazonaws.com.cn', 'awsglobalaccelerator.com', 'cloudfront.net'];

function isAlias(target = ''): boolean {
  return ALIAS_DOMAINS.some((domain) => isWithin(target, domain));
}

/** Returns why DNS does not allow a record, whatever its zone contains. */
function formProblem(zones: readonly Zone[], { host, type, target = '' }: AskedRecord): Refusal | undefined {
  const long = host.split('.').find(({ length }) => length > LONGEST_LABEL);
  const refused = (problem: string): Refusal => ({ reason: 'NotPublishable', problem });
  if (long !== undefined)
    return refused(`a label of ${host} has ${long.length} characters: DNS allows ${LONGEST_LABEL}`);
  if (type !== 'CNAME') return undefined;
  if (normal(target) === host)
    return refused(`the load balancer has the name ${host}, and a CNAME must not lead to itself`);
  if (isAlias(target) || !isApex(zonesOfHost(zones, host), host)) return undefined;
  return refused(
    `${host} is the apex of its zone, where DNS allows no CNAME to ${target}: use a load balancer of AWS, or one with IP addresses`,
  );
}

function refusalIn({ id, delegation, all, others }: InZone, { host, type, target }: AskedRecord): Refusal | undefined {
  if (delegation !== undefined) {
    const problem = `the zone ${id} delegates ${delegation} to other name servers, so that ${host} has no effect in it`;
    return { reason: 'Delegated', problem: `${problem}: name the hosted zone of ${delegation} in hostedZoneIDs` };
  }
  // external-dns publishes some CNAMEs as an alias, and weighted aliases may be next to it.
  const isUnlike = (set: RecordSet): boolean =>
    set.type === 'CNAME' || (type === 'CNAME' && (isSimple(set) || !isAlias(target)));
  const unlike = others.find((set) => set.type !== type && isUnlike(set));
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
  const unweighted = same.find(({ weight }) => weight === undefined);
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
