import { isLabelKey, labelKeyOf, type TrafficWatch, type TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
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
