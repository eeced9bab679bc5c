import { WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import { firstOf, type Condition } from '../../../runtime/controller/conditions.ts';
import type { ZoneDifference } from '../../../weights/zone/differences.ts';
import type { KnownZones } from '../../../weights/zone/published.ts';
import type { ZoneView } from '../observe/observation.ts';

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Collects the zones that were read, and the IDs of zones that were not read yet. */
export function knownZones(views: readonly ZoneView[] = []): KnownZones {
  return {
    zones: views.flatMap(({ zone }) => zone ?? []),
    pending: views.filter(isPending).map(({ id }) => id),
    isComplete: views.every(({ zone }) => zone !== undefined),
  };
}

/** Returns the condition ZonesRead. @param views at least one */
export function zonesState(views: readonly ZoneView[]): State {
  const failed = views.filter(({ failure }) => failure !== undefined);
  const [first] = failed;
  if (first !== undefined) {
    const { failure, lastRead } = first;
    const holds =
      lastRead === undefined ? 'new records are written unchecked' : `the records read at ${lastRead} are used`;
    const message = `${failed.length} of ${views.length} hosted zones cannot be read, the first: ${failure}; ${holds}`;
    return { status: 'False', reason: Reason.ZoneUnavailable, message };
  }
  const pending = views.filter(isPending);
  if (pending.length > 0) {
    const message = `${pending.length} of ${views.length} hosted zones are being read for the first time.`;
    return { status: 'Unknown', reason: Reason.ZonesNotReadYet, message };
  }
  return { status: 'True', reason: Reason.AllZonesRead, message: `All hosted zones are read: ${views.length}.` };
}

function isPending({ zone, failure }: ZoneView): boolean {
  return zone === undefined && failure === undefined;
}

/**
 * A host that differs for longer has another problem than an external-dns that comes later, ms: it runs every minute by default, and
 * Route 53 takes a change within a minute (https://aws.amazon.com/route53/faqs/).
 */
const PUBLISHED_WITHIN_MS = 180_000;
/**
 * How long a hosted zone that can no longer be read counts as it was, ms, if nothing has changed since: a zone of 10,000 record sets is read
 * every 12 minutes, and two and a half of these periods pass before one failed read counts.
 */
const MOST_AGE_MS = 30 * 60_000;
/** Hosts that a message names. */
const MOST_NAMED = 3;

/** The hosted zones compared with the DNSEndpoints. */
export interface Comparison {
  readonly differences: readonly ZoneDifference[];
  /** When each of these hosts began to differ, ms since 1970. */
  readonly since: ReadonlyMap<string, number>;
}

/** Returns a comparison that keeps the times of the last one. @param now ms since 1970 */
export function comparisonOf(
  differences: readonly ZoneDifference[],
  before: Comparison['since'] | undefined,
  now: number,
): Comparison {
  return { differences, since: new Map(differences.map(({ host }) => [host, before?.get(host) ?? now])) };
}

/** Returns the differences that external-dns has had enough time to remove before the zones were read. */
export function lastingDifferences(
  { differences, since }: Comparison,
  views: readonly ZoneView[],
): readonly ZoneDifference[] {
  const readFrom = Math.min(...views.map((view) => view.readFrom ?? 0));
  return differences.filter(({ host }) => readFrom - (since.get(host) ?? readFrom) >= PUBLISHED_WITHIN_MS);
}

/**
 * Returns the condition Published.
 *
 * | the hosted zones                                     | status  | reason          |
 * |------------------------------------------------------|---------|-----------------|
 * | one was never read                                   | Unknown | ZonesNotReadYet, ZoneUnavailable |
 * | a host differs, also in a read minutes later         | False   | NotPublished    |
 * | one can no longer be read, and a host differs, the weight has changed since, or that is long ago | Unknown | ZoneUnavailable |
 * | a host differs                                       | False   | NotPublishedYet |
 * | one was not read since the weight of the cluster changed last | False | NotPublishedYet |
 * | have every record with its weight                    | True    | AllPublished    |
 *
 * @param views at least one
 * @param times ms since 1970; `changedAt` is when the weight of the cluster changed last; undefined if that is not known
 */
export function publishedState(
  views: readonly ZoneView[],
  comparison: Comparison,
  { changedAt, now }: { readonly changedAt: number | undefined; readonly now: number },
): State {
  const unread = views.find(({ zone }) => zone === undefined);
  if (unread !== undefined) {
    const reason = unread.failure === undefined ? Reason.ZonesNotReadYet : Reason.ZoneUnavailable;
    return { status: 'Unknown', reason, message: `The hosted zone ${unread.id} was never read. See ZonesRead.` };
  }
  const lasting = lastingDifferences(comparison, views);
  if (lasting.length > 0) {
    const message = `${named(lasting)}. Check the log and the flags of external-dns.`;
    return { status: 'False', reason: Reason.NotPublished, message };
  }
  const { differences } = comparison;
  const isTooOld = ({ readFrom = 0 }: ZoneView): boolean =>
    differences.length > 0 || readFrom < (changedAt ?? 0) || now - readFrom > MOST_AGE_MS;
  const lost = views.find((view) => view.failure !== undefined && isTooOld(view));
  if (lost !== undefined) return { status: 'Unknown', reason: Reason.ZoneUnavailable, message: lostMessage(lost) };
  if (differences.length > 0) {
    return { status: 'False', reason: Reason.NotPublishedYet, message: `${named(differences)}.` };
  }
  const stale = views.find(({ readFrom = 0 }) => changedAt !== undefined && readFrom < changedAt);
  if (stale !== undefined) {
    const message = `The hosted zone ${stale.id} was not read since the weight changed.`;
    return { status: 'False', reason: Reason.NotPublishedYet, message };
  }
  return {
    status: 'True',
    reason: Reason.AllPublished,
    message: 'The hosted zones have every record with its weight.',
  };
}

function lostMessage({ id, failure, lastRead }: ZoneView): string {
  return (
    `The hosted zone ${id} was read last at ${lastRead}: ${failure}. Whether it has the weights is not known: none counts as in force, and a ramp ` +
    'takes no further step. Allow route53:ListResourceRecordSets on this zone, or correct spec.hostedZoneIDs'
  );
}

/** Returns the ID of the first hosted zone that cannot be read, now or ever; undefined if all can be. */
export function unreadZoneOf(views: readonly ZoneView[] = []): string | undefined {
  return views.find(({ failure }) => failure !== undefined)?.id;
}

/** Returns a text that counts the hosts that differ, and names the first ones by name. */
function named(differences: readonly ZoneDifference[]): string {
  const texts = differences.map(({ host, how }) => `${host}: ${how}`).sort();
  return `${texts.length} hosts differ in the hosted zones: ${firstOf(texts, MOST_NAMED)}`;
}
