import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { isObject } from './mergePatch.ts';

/**
 * Edits to who owns which field of an object, as `metadata.managedFields` has it
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management). Pure; the way to write the
 * result is that of client-go's csaupgrade: a patch of metadata.managedFields with the resourceVersion it was read at.
 *
 * A set of fields is a tree: `{"f:spec": {"f:replicas": {}}}`. An empty object is a field that is owned; "." owns the
 * field whose parts are named beside it.
 */
export type ManagedFields = readonly V1ManagedFieldsEntry[];

/** Steps from the root of a set of fields: ['f:spec', 'f:replicas']. */
export type FieldPath = readonly string[];

type FieldSet = Record<string, unknown>;

/** Whose applied set of fields is edited. */
export interface Owner {
  manager: string;
  /** In which version of the kind the fields are named: 'apps/v1'. */
  apiVersion: string;
}

/** The fields that the manager owns by server-side apply of the main resource. */
export function isAppliedBy(entry: V1ManagedFieldsEntry, manager: string): boolean {
  return entry.manager === manager && entry.operation === 'Apply' && isMain(entry);
}

/** The fields that somebody owns by other writes than server-side apply, those to status or scale not counted. */
export function isUpdate(entry: V1ManagedFieldsEntry): boolean {
  return entry.operation === 'Update' && isMain(entry);
}

/** True when the entry's set names the field or a part of it. */
export function hasField(entry: V1ManagedFieldsEntry, path: FieldPath): boolean {
  return find(setOf(entry), path) !== undefined;
}

/** The chosen entries' fields become applied fields of the owner, whose next apply thus removes what it doesn't name. */
export function takeOver(
  fields: ManagedFields,
  owner: Owner,
  chosen: (e: V1ManagedFieldsEntry) => boolean,
): ManagedFields {
  const taken = fields.filter(chosen);
  if (taken.length === 0) return fields;
  const rest = fields.filter((entry) => !chosen(entry));
  return withApplied(rest, owner, (own) => taken.reduce((sum, entry) => union(sum, setOf(entry)), own));
}

/** The field, with the parts given, belongs to nobody but the owner. */
export function claim(fields: ManagedFields, owner: Owner, path: FieldPath, parts: FieldSet): ManagedFields {
  const others = fields.map((entry) => (isAppliedBy(entry, owner.manager) ? entry : without(entry, path)));
  return withApplied(others, owner, (own) => union(own, nest(path, parts)));
}

/** The manager's next apply leaves the field as it is, though it doesn't name it. */
export function release(fields: ManagedFields, manager: string, path: FieldPath): ManagedFields {
  return fields.map((entry) => (isAppliedBy(entry, manager) ? without(entry, path) : entry));
}

function isMain(entry: V1ManagedFieldsEntry): boolean {
  return entry.subresource === undefined || entry.subresource === '';
}

function withApplied(
  fields: ManagedFields,
  { manager, apiVersion }: Owner,
  edit: (own: FieldSet) => FieldSet,
): ManagedFields {
  const own = fields.find((entry) => isAppliedBy(entry, manager));
  const base = own ?? { manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1' };
  const edited = { ...base, fieldsV1: edit(setOf(base)) };
  return own === undefined ? [...fields, edited] : fields.map((entry) => (entry === own ? edited : entry));
}

function without(entry: V1ManagedFieldsEntry, path: FieldPath): V1ManagedFieldsEntry {
  return hasField(entry, path) ? { ...entry, fieldsV1: remove(setOf(entry), path) } : entry;
}

function setOf(entry: V1ManagedFieldsEntry): FieldSet {
  return toSet(entry.fieldsV1);
}

function toSet(value: unknown): FieldSet {
  return isObject(value) ? value : {};
}

function find(set: FieldSet, path: FieldPath): unknown {
  return path.reduce<unknown>((at, step) => toSet(at)[step], set);
}

function nest(path: FieldPath, leaf: FieldSet): FieldSet {
  return path.reduceRight((inner, step) => ({ [step]: inner }), leaf);
}

function union(a: FieldSet, b: FieldSet): FieldSet {
  const merged = { ...a };
  for (const [step, inner] of Object.entries(b)) {
    merged[step] = step in a ? joined(toSet(a[step]), toSet(inner)) : inner;
  }
  return merged;
}

/** Of an owned field without parts and one with parts, "." keeps that the field itself is owned. */
function joined(a: FieldSet, b: FieldSet): FieldSet {
  const leaf = isEmpty(a) !== isEmpty(b) ? { '.': {} } : {};
  return { ...leaf, ...union(a, b) };
}

/** A parent that is left without parts goes too: empty, it would say that the parent is owned. */
function remove(set: FieldSet, [step, ...rest]: FieldPath): FieldSet {
  const { [step ?? '']: inner, ...others } = set;
  const remaining = rest.length === 0 ? {} : remove(toSet(inner), rest);
  return isEmpty(remaining) ? others : { ...others, [step ?? '']: remaining };
}

function isEmpty(set: FieldSet): boolean {
  return Object.keys(set).length === 0;
}
