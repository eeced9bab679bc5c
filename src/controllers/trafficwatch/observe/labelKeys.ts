import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import { isLabelKey, labelKeyOf, type TrafficWatch, type TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { hasFinalizer } from '../../../runtime/apply/finalizer.ts';
import { FINALIZER } from '../names.ts';
import type { LabelKeys } from './observation.ts';

/** The label key in the spec. Undefined without a readable spec, which another CRD may have allowed. */
function specKeyOf(watch: TrafficWatch): string | undefined {
  const spec = watch.spec as Partial<TrafficWatchSpec> | null | undefined;
  if (!spec || !['undefined', 'string'].includes(typeof spec.label)) return undefined;
  return labelKeyOf(watch);
}

/** Reads the label keys of a TrafficWatch. Its spec and status may have any shape. */
export function labelKeysOf(watch: TrafficWatch): LabelKeys {
  const spec = specKeyOf(watch);
  const inUse = watch.status?.labelKey;
  const previous = isLabelKey(inUse) && inUse !== spec ? inUse : undefined;
  return { spec, inUse, previous, claimed: [spec, previous].filter((key) => key !== undefined) };
}

/**
 * The label keys that a TrafficWatch claims: the one its spec names, and in a rename the one that is still in use. With
 * mode Observe it claims none once its labels are gone: another TrafficWatch may use the key then.
 */
export function claimedKeys(watch: TrafficWatch): string[] {
  const labelsNodes = modeOf(watch.spec) === 'Enforce' || hasFinalizer(watch, FINALIZER);
  return labelsNodes ? [...labelKeysOf(watch).claimed] : [];
}
