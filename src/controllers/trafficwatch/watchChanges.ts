import type { TrafficWatch } from '../../api/trafficwatch/schema.ts';

/** The fields that an event of a TrafficWatch compares. The uid differs if it was deleted and created again while no watch ran. */
type Seen = Pick<TrafficWatch, 'metadata' | 'status'>;

/** True if the change needs a reconcile. The operator's own status writes do not, or each would cause another. */
export function watchChanged(a: Seen, b: Seen): boolean {
  const relevant = ({ metadata, status }: Seen): string =>
    JSON.stringify([
      metadata?.uid,
      metadata?.generation,
      metadata?.deletionTimestamp,
      metadata?.finalizers,
      status?.labelKey,
    ]);
  return relevant(a) !== relevant(b);
}
