import { createHash } from 'node:crypto';
import type { KubeObject } from '../client/resource.ts';
import { isObject, ownValue } from './mergePatch.ts';
import { isSameQuantity } from './quantity.ts';

/**
 * Annotation with a hash of the last applied object, so that the removal of a desired field is detected as a change.
 */
export const APPLIED_HASH_ANNOTATION = 'traffic.example.com/applied-hash';
/** Value of the annotation in an object that this operator has created, but not applied yet. */
export const NOT_APPLIED_YET = 'not-applied-yet';

/**
 * Returns the hash of a desired object. It does not depend on the order of keys, and changes if a field is added, changed or
 * removed. Ignores the annotation that contains the hash.
 *
 * @returns 32 hexadecimal digits
 */
export function appliedHash(object: KubeObject): string {
  const others = Object.entries(object.metadata?.annotations ?? {}).filter(([key]) => key !== APPLIED_HASH_ANNOTATION);
  const annotated = withAnnotations(object, others.length === 0 ? undefined : Object.fromEntries(others));
  return createHash('sha256').update(canonical(annotated)).digest('hex').slice(0, 32);
}

/** JSON with sorted keys and without undefined values. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

/** Returns the object with these annotations instead of its own. */
export function withAnnotations<T extends KubeObject>(object: T, annotations: Record<string, string> | undefined): T {
  const metadata: object = object.metadata ?? {};
  return { ...object, metadata: { ...metadata, annotations } };
}

/**
 * Merge keys of lists by field name, for the types that this operator applies
 * (https://kubernetes.io/docs/reference/generated/kubernetes-api/, "patch merge key" and listMapKeys). If a field has
 * several, the first that every item has is used. All other lists are atomic.
 */
const MERGE_KEYS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  containers: [['name']],
  initContainers: [['name']],
  volumes: [['name']],
  env: [['name']],
  imagePullSecrets: [['name']],
  volumeMounts: [['mountPath']],
  volumeDevices: [['devicePath']],
  hostAliases: [['ip']],
  ownerReferences: [['uid']],
  ports: [
    ['containerPort', 'protocol'],
    ['port', 'protocol'],
  ],
  topologySpreadConstraints: [['topologyKey', 'whenUnsatisfiable']],
};

/** Defaults of the API server for fields of merge keys. */
const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' };

/** Longest key in a path, in characters: a label key with its prefix has at most 317. Longer keys are cut. */
const MOST_OF_KEY = 317;

/**
 * Where a value is. The keys of maps and of list items are text of users of any length, so the path is only for messages:
 * decisions read the last two fields.
 */
interface Place {
  /** For example `.spec.containers[main].image`. */
  readonly path: string;
  /** The last field or key of a map; undefined for the item of a list. */
  readonly field?: string;
  /** The field before it. */
  readonly parent?: string;
}

function fieldOf({ path, field }: Place, key: string): Place {
  return { path: `${path}.${shortened(key)}`, field: key, parent: field };
}

function itemOf({ path }: Place, key: string | number): Place {
  return { path: `${path}[${shortened(String(key))}]` };
}

function shortened(key: string): string {
  return key.length > MOST_OF_KEY ? `${key.slice(0, MOST_OF_KEY)}…` : key;
}

function isQuantity({ field, parent }: Place): boolean {
  if (parent === 'limits' || parent === 'requests') return true;
  return (parent === 'emptyDir' && field === 'sizeLimit') || (parent === 'resourceFieldRef' && field === 'divisor');
}

/**
 * True if `live` has all values of `desired`. Ignores additional fields of `live`. Compares quantities by amount, lists
 * with merge keys by key, and other lists as a whole.
 */
export function isSubset(desired: unknown, live: unknown): boolean {
  return differences(desired, live).length === 0;
}

/**
 * The values of `desired` that `live` does not have: one line each, with the path and the value of `live`. Null,
 * undefined and an empty list equal an absent field. Ignores apiVersion and kind, which objects in lists lack.
 */
export function differences(desired: unknown, live: unknown): string[] {
  const untyped = isObject(desired) ? { ...desired, apiVersion: undefined, kind: undefined } : desired;
  return compare(untyped, live, { path: '' });
}

/**
 * The merge patch (RFC 7396) that removes what is null in `desired` and has a value in `live`. Server-side apply leaves such a value if no field
 * manager has set it, such as a default of the API server. The plain values next to it come along, since an API server may refuse one without the
 * other. Undefined if nothing is to be removed. Ignores lists.
 */
export function removalPatch(desired: unknown, live: unknown): Record<string, unknown> | undefined {
  if (!isObject(desired) || !isObject(live)) return undefined;
  const entries = Object.entries(desired);
  const isRemoved = ([key, value]: [string, unknown]): boolean =>
    value === null && (ownValue(live, key) ?? null) !== null;
  const plain = entries.some(isRemoved) ? entries.filter(([, value]) => !isObject(value) && !isList(value)) : [];
  const below = entries.flatMap(([key, value]) => {
    const patch = removalPatch(value, ownValue(live, key));
    return patch === undefined ? [] : [[key, patch] as const];
  });
  return plain.length + below.length === 0 ? undefined : Object.fromEntries([...plain, ...below]);
}

function compare(desired: unknown, live: unknown, place: Place): string[] {
  if (desired === undefined || desired === null) {
    return [];
  }
  if (isList(desired)) {
    return compareLists(desired, live ?? [], place);
  }
  if (isObject(desired)) {
    return isObject(live)
      ? Object.entries(desired).flatMap(([key, value]) => compare(value, ownValue(live, key), fieldOf(place, key)))
      : [found(place, live)];
  }
  const isSame = desired === live || (isQuantity(place) && isSameQuantity(desired, live));
  return isSame ? [] : [found(place, live)];
}

function compareLists(desired: readonly unknown[], live: unknown, place: Place): string[] {
  if (!isList(live)) {
    return [found(place, live)];
  }
  const keys = mergeKeysOf(place, [...desired, ...live]);
  if (keys !== undefined) {
    const byKey = new Map(live.map((item) => [mergeKey(item, keys), item]));
    return desired.flatMap((item) => {
      const key = mergeKey(item, keys);
      return compare(item, byKey.get(key), itemOf(place, key));
    });
  }
  return desired.length === live.length
    ? desired.flatMap((item, index) => compare(item, live[index], itemOf(place, index)))
    : [found(place, live)];
}

function mergeKeysOf({ field = '' }: Place, items: readonly unknown[]): readonly string[] | undefined {
  const candidates = Object.hasOwn(MERGE_KEYS, field) ? MERGE_KEYS[field] : undefined;
  return candidates?.find((keys) => items.every((item) => keys.every((key) => keyField(item, key) !== undefined)));
}

function mergeKey(item: unknown, keys: readonly string[]): string {
  return keys.map((key) => String(keyField(item, key))).join('/');
}

function keyField(item: unknown, key: string): unknown {
  return isObject(item) ? (ownValue(item, key) ?? KEY_DEFAULTS[key]) : undefined;
}

function found({ path }: Place, live: unknown): string {
  return `${path}: ${live === undefined ? 'absent' : JSON.stringify(live)}`;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
