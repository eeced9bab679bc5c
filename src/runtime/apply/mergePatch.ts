/** A JSON object: not null and not a list. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The RFC 7386 merge patch that turns `current` into `desired`, or undefined if they are equal.
 *
 * An undefined value counts as absent. So does a null in an object of `desired`, because a merge patch cannot set a key
 * to null. Nulls in lists are kept, because lists are replaced as a whole.
 */
export function diffMergePatch(current: unknown, desired: unknown): unknown {
  if (!isObject(desired)) {
    return isEqual(current, desired) ? undefined : desired;
  }
  if (!isObject(current)) {
    return withoutNulls(desired);
  }
  const patch = [...changedKeys(current, desired), ...removedKeys(current, desired)];
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
}

/** Applies an RFC 7386 merge patch (section 2) and returns the result. Does not change its arguments. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) {
    return patch;
  }
  const result = new Map(entriesOf(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      result.delete(key);
    } else if (value !== undefined) {
      result.set(key, applyMergePatch(result.get(key), value));
    }
  }
  return Object.fromEntries(result);
}

function changedKeys(current: JsonObject, desired: JsonObject): [string, unknown][] {
  return entriesOf(desired).flatMap(([key, value]): [string, unknown][] => {
    if (!isPresent(current, key)) {
      return [[key, isObject(value) ? withoutNulls(value) : value]];
    }
    const change = diffMergePatch(current[key], value);
    return change === undefined ? [] : [[key, change]];
  });
}

function removedKeys(current: JsonObject, desired: JsonObject): [string, null][] {
  return Object.keys(current)
    .filter((key) => current[key] !== undefined && !isPresent(desired, key))
    .map((key) => [key, null]);
}

/** True if two JSON values are equal. Ignores the order of keys. Undefined equals absent, null does not. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => isEqual(ownValue(a, key), ownValue(b, key)));
  }
  return Object.is(a, b) || (a === 0 && b === 0);
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    entriesOf(value).map(([key, item]): [string, unknown] => [key, isObject(item) ? withoutNulls(item) : item]),
  );
}

function entriesOf(value: JsonObject): [string, unknown][] {
  return Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
}

function isPresent(value: JsonObject, key: string): boolean {
  const item = ownValue(value, key);
  return item !== undefined && item !== null;
}

/** The value of an own key, not an inherited one such as 'toString'. */
export function ownValue(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** True if a JSON value is an object: not null and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
