type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields of `before` that `after` lacks: paths such as `spec.nodeSelector` and `spec.capacity[].value`, each once. If
 * a whole object is missing, only its own path is returned. A field with another value is not missing. Lists of another
 * length are not compared: their entries cannot be matched.
 *
 * @param path of both values
 */
export function lostFields(before: unknown, after: unknown, path: string): string[] {
  if (before === undefined) return [];
  if (after === undefined) return [path];
  if (Array.isArray(before)) {
    if (!Array.isArray(after) || before.length !== after.length) return [];
    return [...new Set(before.flatMap((entry, place) => lostFields(entry, after[place], `${path}[]`)))];
  }
  if (!isFields(before) || !isFields(after)) return [];
  return Object.entries(before).flatMap(([name, value]) => lostFields(value, after[name], `${path}.${name}`));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
