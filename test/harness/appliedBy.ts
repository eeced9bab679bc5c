import type { KubeObject } from '../../src/runtime/client/resource.ts';

type Value = unknown;
type Fields = Readonly<Record<string, unknown>>;

/**
 * The part of an object that a field manager applied: the fields of its entry in `managedFields`, with their values, and the identity.
 *
 * @throws Error if it has not applied the object
 */
export function appliedBy<T extends KubeObject>(object: T, manager: string): T {
  const { apiVersion, kind, metadata } = object;
  const entry = metadata?.managedFields?.find((each) => each.manager === manager && each.operation === 'Apply');
  if (entry?.fieldsV1 === undefined) throw new Error(`${manager} has not applied ${kind} ${metadata?.name}`);
  const { metadata: applied, ...content } = pick(object, entry.fieldsV1 as Fields) as KubeObject;
  const { namespace, name } = metadata ?? {};
  return { apiVersion, kind, ...content, metadata: { ...(namespace && { namespace }), name, ...applied } } as T;
}

/** A field without steps is there as a whole. */
function pick(value: Value, fields: Fields): Value {
  const steps = Object.entries(fields).filter(([step]) => step !== '.');
  if (steps.length === 0) return value;
  if (Array.isArray(value)) return value.flatMap((item: Value) => pickItem(item, steps));
  const object = value as Fields;
  return Object.fromEntries(
    steps.map(([step, inner]) => [step.slice(2), pick(object[step.slice(2)], inner as Fields)]),
  );
}

/** `k:{"name":"web"}` is the item with these keys, and `v:"x"` the item itself. */
function pickItem(item: Value, steps: readonly (readonly [string, unknown])[]): Value[] {
  const found = steps.find(([step]) => {
    const wanted = JSON.parse(step.slice(2)) as Value;
    return step.startsWith('k:') ? hasKeys(item as Fields, wanted as Fields) : item === wanted;
  });
  return found === undefined ? [] : [pick(item, found[1] as Fields)];
}

function hasKeys(item: Fields, keys: Fields): boolean {
  return Object.entries(keys).every(([key, value]) => item[key] === value);
}
