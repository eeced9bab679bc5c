import { WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import type { Condition } from '../../../runtime/controller/conditions.ts';
import type { KnownZones } from '../../../weights/zone/published.ts';
import type { ZoneView } from '../observe/observation.ts';

/** Collects the zones that were read, and the IDs of zones that were not read yet. */
export function knownZones(views: readonly ZoneView[] = []): KnownZones {
  return {
    zones: views.flatMap(({ zone }) => zone ?? []),
    pending: views.filter(isPending).map(({ id }) => id),
    isComplete: views.every(({ zone }) => zone !== undefined),
  };
}

/** Returns the condition ZonesRead. @param views at least one */
export function zonesState(views: readonly ZoneView[]): Pick<Condition, 'status' | 'reason' | 'message'> {
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
