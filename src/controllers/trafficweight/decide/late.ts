import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { refOfKey } from '../../../runtime/client/resource.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import { isObserved } from '../../../weights/plan/plan.ts';
import type { Outcome } from './outcome.ts';

/** How long a ramp waits for a namespace: ms. external-dns runs every minute by default. */
const MOST_LATE_MS = 10 * 60_000;
/** The share of the DNSEndpoints that must be in namespaces that are not late: otherwise external-dns may not run at all. */
const IN_TIME_SHARE = 0.5;

/** By namespace: since when a DNSEndpoint of it has not been written, or external-dns has not read it as it is, ms since 1970. */
export type LateSince = ReadonlyMap<string, number>;

/** The DNSEndpoints after a round of writes, and the keys of those that were not written. Keys are `namespace/name`. */
interface Round extends Pick<Outcome, 'endpoints'> {
  readonly unwritten: ReadonlySet<string>;
}

/** Returns since when each namespace is late; none without a ramp. @param times of the last round, and now: ms since 1970 */
export function lateSince(
  { endpoints, unwritten }: Round,
  { ramp, acknowledge }: TrafficWeightSpec,
  { before, now }: { readonly before: LateSince | undefined; readonly now: number },
): LateSince {
  if (ramp === undefined) return new Map();
  const unread = [...endpoints].filter(([, endpoint]) => {
    return acknowledge !== 'Applied' && (endpoint === undefined || !isObserved(endpoint));
  });
  const namespaces = [...unread.map(([key]) => key), ...unwritten].map(namespaceOf);
  return new Map(namespaces.map((namespace) => [namespace, before?.get(namespace) ?? now]));
}

/** The DNSEndpoints after a round of writes, and the writes that failed or are left, by key. */
interface Writes extends Pick<Outcome, 'endpoints'> {
  readonly failures: readonly (Failure & { readonly key: string })[];
  readonly left: readonly string[];
}

/**
 * Returns the namespaces for which a ramp waits no longer, and what it still waits for: whoever may write in one namespace could hold it for ever.
 * Undefined if it waits for all, as while most DNSEndpoints are in namespaces that are late.
 */
export function behindOf({ endpoints, failures, left }: Writes, since: LateSince, now: number): Outcome['behind'] {
  const namespaces = [...since].filter(([, at]) => now - at >= MOST_LATE_MS).map(([namespace]) => namespace);
  const inTime = [...endpoints.keys()].filter((key) => !since.has(namespaceOf(key))).length;
  if (namespaces.length === 0 || inTime < IN_TIME_SHARE * endpoints.size) return undefined;
  const late = new Set(namespaces);
  const isWaitedFor = (key: string): boolean => !late.has(namespaceOf(key));
  const others = {
    endpoints: new Map([...endpoints].filter(([key]) => isWaitedFor(key))),
    failures: failures.filter(({ key }) => isWaitedFor(key)),
    left: left.filter(isWaitedFor).length,
  };
  return { namespaces: namespaces.sort(), others };
}

function namespaceOf(key: string): string {
  return refOfKey(key).namespace ?? '';
}
