import { isObject, ownValue } from './mergePatch.ts';
import { isSameQuantity } from './quantity.ts';

/**
 * What makes an item of a list the same item, by the name of the list's field: the merge keys of the types that this
 * operator applies (https://kubernetes.io/docs/reference/generated/kubernetes-api/, "patch merge key" and listMapKeys).
 * Where there are several, the first that every item has is taken. Lists not named here are replaced whole.
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

/** Fields of merge keys that the API server fills in when they are left out. */
const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP' };

/** Paths of resource quantities. */
const QUANTITIES = /\.(?:limits|requests)\.[^[]+$|\.(?:sizeLimit|divisor)$/;

/**
 * True when `live` says everything that `desired` says; what it says beyond that belongs to others. Quantities count as
 * amounts, lists of named things are compared by name, other lists whole.
 */
export function isSubset(desired: unknown, live: unknown): boolean {
  return differences(desired, live).length === 0;
}

/**
 * Where `live` does not say what `desired` says: a path and the value found there, a line each. Null, undefined and an
 * empty list wish for nothing, so that they agree with an absent field. apiVersion and kind are not compared: objects
 * in lists have none.
 */
export function differences(desired: unknown, live: unknown): string[] {
  const untyped = isObject(desired) ? { ...desired, apiVersion: undefined, kind: undefined } : desired;
  return compare(untyped, live, '');
}

function compare(desired: unknown, live: unknown, path: string): string[] {
  if (desired === undefined || desired === null) {
    return [];
  }
  if (isList(desired)) {
    return compareLists(desired, live ?? [], path);
  }
  if (isObject(desired)) {
    return isObject(live)
      ? Object.entries(desired).flatMap(([key, value]) => compare(value, ownValue(live, key), `${path}.${key}`))
      : [found(path, live)];
  }
  const isSame = desired === live || (QUANTITIES.test(path) && isSameQuantity(desired, live));
  return isSame ? [] : [found(path, live)];
}

function compareLists(desired: readonly unknown[], live: unknown, path: string): string[] {
  if (!isList(live)) {
    return [found(path, live)];
  }
  const keys = mergeKeysOf(path, [...desired, ...live]);
  if (keys !== undefined) {
    const byKey = new Map(live.map((item) => [mergeKey(item, keys), item]));
    return desired.flatMap((item) => {
      const key = mergeKey(item, keys);
      return compare(item, byKey.get(key), `${path}[${key}]`);
    });
  }
  return desired.length === live.length
    ? desired.flatMap((item, index) => compare(item, live[index], `${path}[${index}]`))
    : [found(path, live)];
}

function mergeKeysOf(path: string, items: readonly unknown[]): readonly string[] | undefined {
  const field = path.slice(path.lastIndexOf('.') + 1);
  return MERGE_KEYS[field]?.find((keys) =>
    items.every((item) => keys.every((key) => keyField(item, key) !== undefined)),
  );
}

function mergeKey(item: unknown, keys: readonly string[]): string {
  return keys.map((key) => String(keyField(item, key))).join('/');
}

function keyField(item: unknown, key: string): unknown {
  return isObject(item) ? (ownValue(item, key) ?? KEY_DEFAULTS[key]) : undefined;
}

function found(path: string, live: unknown): string {
  return `${path}: ${live === undefined ? 'absent' : JSON.stringify(live)}`;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
