import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import { isLabelKey, isOfPKopel, labelKeyOf, nativeKeyOf } from '../../../api/trafficwatch/labelKey.ts';
import type { TrafficWatch, TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { hasFinalizer } from '../../../runtime/apply/finalizer.ts';
import { FINALIZER } from '../names.ts';
import type { LabelKeys } from './observation.ts';

function hasReadableSpec({ spec }: { spec: Partial<TrafficWatchSpec> | null | undefined }): boolean {
  return Boolean(spec) && ['undefined', 'string'].includes(typeof spec?.label);
}

/**
 * Reads the label keys of a TrafficWatch. Its spec and status may have any shape: without a readable spec, which another
 * CRD may have allowed, it has no key but the one in the status.
 */
export function labelKeysOf(watch: TrafficWatch): LabelKeys {
  const spec = hasReadableSpec(watch) ? labelKeyOf(watch) : undefined;
  const inUse = isOfPKopel(watch) ? spec : watch.status?.labelKey;
  const previous = isLabelKey(inUse) && inUse !== spec ? inUse : undefined;
  const native = hasReadableSpec(watch) ? nativeKeyOf(watch) : undefined;
  return { spec, native, inUse, previous, claimed: [spec, previous].filter((key) => key !== undefined) };
}

/** The keys while the API server drops `spec.label`: the one in use stays, as if the spec had the label. */
export function withoutRename(keys: LabelKeys): LabelKeys {
  const { previous } = keys;
  return previous === undefined ? keys : { ...keys, spec: previous, previous: undefined, claimed: [previous] };
}

/**
 * The label keys that a TrafficWatch claims: the one its spec names, and in a rename the one that is still in use. With
 * mode Observe it claims none once its labels are gone: another TrafficWatch may use the key then.
 *
 * An older CRD that was installed by mistake makes a status look like one of PKopel/traffic-operator. Labels under the
 * native key must stay until the status has its fields again.
 */
export function claimedKeys(watch: TrafficWatch): string[] {
  const labelsNodes = modeOf(watch.spec) === 'Enforce' || hasFinalizer(watch, FINALIZER);
  if (!labelsNodes) return [];
  const { claimed, native } = labelKeysOf(watch);
  return isOfPKopel(watch) && native !== undefined ? [...new Set([...claimed, native])] : [...claimed];
}
