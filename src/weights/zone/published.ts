import type { Zone } from './recordSets.ts';
import { verdictOf, type Refusal } from './verdict.ts';
import { normal } from '../records/domain.ts';
import {
  DEFAULT_TTL,
  type DnsEndpoint,
  type Endpoint,
  type RecordSettings,
  type TargetsWithTtl,
} from '../records/endpoint.ts';
import type { Targets } from '../records/targets.ts';

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
  const { refusal, otherTtls } = verdictOf(known.zones, { host, type, clusterName: settings.clusterName });
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
