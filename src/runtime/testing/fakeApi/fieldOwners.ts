import type { V1ManagedFieldsEntry, V1OwnerReference } from '@kubernetes/client-node';
import { isObject } from '../../apply/mergePatch.ts';
import { hasField } from '../../apply/managedFields.ts';

/**
 * Steps to a field that is no object: ['spec', 'replicas']. A list is one field, as if every list were atomic, but for
 * the owner references, which are owned one by one: ['metadata', 'ownerReferences', 'k:{"uid":"a"}'].
 */
type Path = readonly string[];
type Json = Record<string, unknown>;

/** Who writes, and by which operation. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string | undefined;
}

/** Fields without an owner: they identify an object. In metadata, only the fields in OWNED_METADATA have owners. */
const UNOWNED = ['apiVersion', 'kind'];
const OWNED_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/** Returns the fields of an object that a manager can own. */
export function fieldsOf(object: object): Path[] {
  const { metadata, ...rest } = object as Json;
  const own = Object.entries(rest).filter(([key]) => !UNOWNED.includes(key));
  const meta = Object.entries(isObject(metadata) ? metadata : {}).filter(([key]) => OWNED_METADATA.includes(key));
  return leaves({ ...Object.fromEntries(own), metadata: Object.fromEntries(meta) });
}

function leaves(value: unknown, path: Path = []): Path[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && path.join('.') === 'metadata.ownerReferences') {
    return value.map((reference) => [...path, stepTo(reference)]);
  }
  if (!isObject(value)) return [path];
  const entries = Object.entries(value);
  if (entries.length === 0 && path.length > 1) return [path];
  return entries.flatMap(([key, part]) => leaves(part, [...path, key]));
}

/** The value at a path; undefined when there is none. */
export function valueAt(object: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value.find((reference) => stepTo(reference) === key);
    return isObject(value) ? value[key] : undefined;
  }, object);
}

/** The step to an owner reference within their list. */
function stepTo(reference: unknown): string {
  return `k:${JSON.stringify({ uid: (reference as V1OwnerReference).uid })}`;
}

/** A copy without the field at the path. */
export function without(object: unknown, [key = '', ...rest]: Path): unknown {
  if (Array.isArray(object)) return object.filter((reference) => stepTo(reference) !== key);
  if (!isObject(object) || !(key in object)) return object;
  const { [key]: part, ...others } = object;
  return rest.length === 0 ? others : { ...others, [key]: without(part, rest) };
}

const fieldPath = (path: Path): string[] => path.map((key) => (key.startsWith('k:') ? key : `f:${key}`));

/** True when the entry owns the field. */
export function owns(entry: V1ManagedFieldsEntry, path: Path): boolean {
  return hasField(entry, fieldPath(path));
}

/** True when the entry is the writer's own. */
export function isBy(entry: V1ManagedFieldsEntry, writer: Writer): boolean {
  return (
    entry.manager === writer.manager && entry.operation === writer.operation && entry.subresource === writer.subresource
  );
}

/** The entry of a writer that owns these fields. */
export function entryOf({ manager, operation, apiVersion, subresource }: Writer, paths: readonly Path[]) {
  const fieldsV1: Json = {};
  for (const path of paths) {
    let at = fieldsV1;
    for (const key of fieldPath(path)) at = (at[key] ??= {}) as Json;
  }
  const part = subresource === undefined ? {} : { subresource };
  return { manager, operation, apiVersion, fieldsType: 'FieldsV1', fieldsV1, ...part } satisfies V1ManagedFieldsEntry;
}

/** Returns an entry without fields that now belong to another manager; undefined if no field is left. */
export function giveUp(entry: V1ManagedFieldsEntry, paths: readonly Path[]): V1ManagedFieldsEntry | undefined {
  const fields = paths.reduce<unknown>((set, path) => pruned(set, fieldPath(path)), entry.fieldsV1);
  return isObject(fields) && Object.keys(fields).length > 0 ? { ...entry, fieldsV1: fields } : undefined;
}

/** Removes a field, and the parents that it leaves empty. */
function pruned(set: unknown, [key = '', ...rest]: Path): unknown {
  if (!isObject(set) || !(key in set)) return set;
  const { [key]: part, ...others } = set;
  const left = rest.length === 0 ? {} : pruned(part, rest);
  return isObject(left) && Object.keys(left).length > 0 ? { ...others, [key]: left } : others;
}
