import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import { isLabelKey, isOfPKopel, labelKeyOf, nativeKeyOf } from '../../../api/trafficwatch/labelKey.ts';
import type { TrafficWatch, TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { FINALIZER } from '../names.ts';
import { isStrict } from '../../../api/trafficwatch/spec/placement.ts';
import { sideOfLabel } from './label.ts';
import type { Labelled } from '../../../nodes/cachedNode.ts';

/** The label keys of a TrafficWatch. */
export interface LabelKeys {
  /** The key by spec and status; undefined without a readable spec. */
  readonly spec: string | undefined;
  /** The key that only this namespace can have; undefined without a readable spec. An older object may have another. */
  readonly native: string | undefined;
  /** The key in the status: the key of the present labels. With a status of PKopel/traffic-operator, the legacy key. */
  readonly inUse: string | undefined;
  /** The key in the status if it differs from the spec: a rename is in progress. */
  readonly previous: string | undefined;
  /** `spec` and `previous`, if defined. */
  readonly claimed: readonly string[];
}

/** The age of an object. */
export interface Age {
  readonly uid: string;
  /** In the form of Date.toISOString. */
  readonly creationTimestamp: string;
}

/**
 * Returns whether `a` is older than `b`; of the same age, whether its UID is smaller. Every replica gets the same result. The times have the form of
 * Date.toISOString, so they compare as text.
 */
export function isOlder(a: Age, b: Age): boolean {
  return a.creationTimestamp === b.creationTimestamp ? a.uid < b.uid : a.creationTimestamp < b.creationTimestamp;
}

/** The claim of another TrafficWatch, without a deletionTimestamp, on a label key. */
export interface Claim extends Age {
  /** namespace/name */
  readonly key: string;
  /** True if its spec names the key; false if only its status does, during a rename. */
  readonly bySpec: boolean;
  /** True if the key is the native one of its namespace and label. */
  readonly isNative: boolean;
}

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
  const labelsNodes = modeOf(watch.spec) === 'Enforce' || mayHaveLabels({ watch });
  if (!labelsNodes) return [];
  const { claimed, native } = labelKeysOf(watch);
  return isOfPKopel(watch) && native !== undefined ? [...new Set([...claimed, native])] : [...claimed];
}

/** Whether the TrafficWatch may have labelled nodes: the finalizer is added before the first label is written. */
export function mayHaveLabels({ watch }: Pick<Claimant, 'watch'>): boolean {
  return watch.metadata?.finalizers?.includes(FINALIZER) ?? false;
}

/** A TrafficWatch with the keys that it claims, and the claims of others on them. */
interface Claimant {
  readonly watch: TrafficWatch;
  readonly keys: Pick<LabelKeys, 'native' | 'claimed'>;
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** ms since the epoch by our clock. */
  readonly now: number;
}

/** The claim of the TrafficWatch that owns the key before this one; undefined when the key is this one's. */
export function ownedByAnother(o: Claimant, key: string): Claim | undefined {
  const { uid = '', creationTimestamp } = o.watch.metadata ?? {};
  const created = new Date(creationTimestamp ?? o.now).toISOString();
  const mine = { uid, creationTimestamp: created, isNative: o.keys.native === key };
  return ownerBefore(mine, o.claims.get(key) ?? []);
}

/** The fields of a claim that decide which claim wins. */
type Rank = Age & Pick<Claim, 'isNative'>;

/** Whether claim `a` wins over claim `b`: a native one over one of an earlier version, then the older one. */
function precedes(a: Rank, b: Rank): boolean {
  return a.isNative === b.isNative ? isOlder(a, b) : a.isNative;
}

/** The claim that owns the key instead of `mine`; undefined if `mine` owns it. */
function ownerBefore(mine: Rank, others: readonly Claim[]): Claim | undefined {
  return others.filter((other) => precedes(other, mine)).sort((a, b) => (precedes(a, b) ? -1 : 1))[0];
}

/**
 * The label keys by which this TrafficWatch keeps pods off nodes now. Empty, so that pods need not be watched, unless
 * the placement is Required or AtCreation, the mode Enforce, and a node is labelled unfit. In a rename both keys can be in force.
 */
export function blockingKeys(o: Claimant & { readonly view: { readonly nodes: readonly Labelled[] } }): string[] {
  if (!isStrict(o.watch.spec) || modeOf(o.watch.spec) === 'Observe') return [];
  return o.keys.claimed.filter(
    (key) => !ownedByAnother(o, key) && o.view.nodes.some(({ labels }) => sideOfLabel(labels[key]) === 'above'),
  );
}

/** Whether the spec of another TrafficWatch names the key. */
export function claimedBySpec(o: Claimant, key: string): boolean {
  return (o.claims.get(key) ?? []).some((claim) => claim.bySpec);
}
