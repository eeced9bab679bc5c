import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from './mergePatch.ts';
import type { JsonPatchOperation } from '../client/client.ts';

/**
 * Functions that change the field ownership in `metadata.managedFields`
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management). They are pure. Write the result
 * with `ownersPatch`.
 *
 * A set of fields is a tree: `{"f:spec": {"f:replicas": {}}}`. An empty object marks an owned field. The key "." marks
 * an owned field that also has owned children.
 */
export type ManagedFields = readonly V1ManagedFieldsEntry[];

/** Steps from the root of a set of fields: ['f:spec', 'f:replicas']. */
export type FieldPath = readonly string[];

type FieldSet = Record<string, unknown>;

/** The owner of the applied set of fields to edit. */
export interface Owner {
  manager: string;
  /** API version of the field names: 'apps/v1'. */
  apiVersion: string;
}

const NO_CONTENT: ReadonlySet<string> = new Set(['f:metadata', 'f:status']);

/** True for the entry of the manager's server-side applies to the main resource. */
export function isAppliedBy(entry: V1ManagedFieldsEntry, manager: string): boolean {
  return entry.manager === manager && entry.operation === 'Apply' && isMain(entry);
}

/** True for an entry of other writes than server-side apply to the main resource (not status or scale). */
export function isUpdate(entry: V1ManagedFieldsEntry): boolean {
  return entry.operation === 'Update' && isMain(entry);
}

/** True if the entry contains the field or a part of it. */
export function hasField(entry: V1ManagedFieldsEntry, path: FieldPath): boolean {
  return find(setOf(entry), path) !== undefined;
}

/** Returns the managers of the content of an object, sorted: any field except metadata and status. Without any, the managers of metadata. */
export function managersOf(fields: ManagedFields): string[] {
  const main = fields.filter(isMain);
  const ofContent = main.filter((entry) => Object.keys(setOf(entry)).some((step) => !NO_CONTENT.has(step)));
  const found = ofContent.length > 0 ? ofContent : main;
  return [...new Set(found.flatMap(({ manager }) => manager ?? []))].sort();
}

/**
 * Returns the managers of a field or a part of it, sorted. Ignores managers of the status.
 *
 * @param path in the form of `differences`: `.spec.template.spec.containers[web].image`
 */
export function heldBy(fields: ManagedFields, path: string): string[] {
  const found = fields.filter((entry) => entry.subresource !== 'status' && !isEmpty(setOf(entry)));
  return [
    ...new Set(found.filter((entry) => holds(setOf(entry), path)).flatMap(({ manager }) => manager ?? [])),
  ].sort();
}

/** A set without steps is a field that is owned as a whole. */
function holds(set: FieldSet, path: string): boolean {
  if (path === '' || isEmpty(set)) return true;
  return Object.entries(set).some(([step, inner]) => {
    const text = textOf(step);
    const rest = path.slice(text.length);
    return text !== '' && path.startsWith(text) && /^($|[.[])/.test(rest) && holds(toSet(inner), rest);
  });
}

/** A step in a path of `differences`: `f:spec` is `.spec`, and `k:{"name":"web"}` is `[web]`. Empty for others. */
function textOf(step: string): string {
  if (step.startsWith('f:')) return `.${step.slice(2)}`;
  if (!step.startsWith('k:')) return '';
  return `[${Object.values(JSON.parse(step.slice(2)) as Record<string, unknown>).join('/')}]`;
}

/**
 * Moves the fields of the chosen entries to the owner's applied fields. The owner's next apply removes unnamed ones.
 */
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

/** Makes the owner the only owner of the field, with the given parts. */
export function claim(fields: ManagedFields, owner: Owner, path: FieldPath, parts: FieldSet): ManagedFields {
  const others = fields.map((entry) => (isAppliedBy(entry, owner.manager) ? entry : without(entry, path)));
  return withApplied(others, owner, (own) => union(own, nest(path, parts)));
}

/** Removes the field from the manager's applied fields, so that its next apply keeps the value without naming it. */
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

/** Joins two sets. If one owns the field itself and the other owns parts of it, "." marks the field as owned. */
function joined(a: FieldSet, b: FieldSet): FieldSet {
  const leaf = isEmpty(a) !== isEmpty(b) ? { '.': {} } : {};
  return { ...leaf, ...union(a, b) };
}

/** Removes a path. Also removes a parent without remaining children: an empty object would mark the parent as owned. */
function remove(set: FieldSet, [step, ...rest]: FieldPath): FieldSet {
  const { [step ?? '']: inner, ...others } = set;
  const remaining = rest.length === 0 ? {} : remove(toSet(inner), rest);
  return isEmpty(remaining) ? others : { ...others, [step ?? '']: remaining };
}

function isEmpty(set: FieldSet): boolean {
  return Object.keys(set).length === 0;
}

const LIST = '/metadata/managedFields';

/**
 * The JSON patch that turns these field owners of an object into others. It tests the uid of the object, and each entry that it replaces, and
 * nothing else: a write of another manager meanwhile, such as of a status, neither fails it nor is lost. The API server answers with
 * 422 if a test fails. Empty if nothing changes.
 */
export function ownersPatch(
  uid: string | undefined,
  before: ManagedFields,
  after: ManagedFields,
): readonly JsonPatchOperation[] {
  const isIn = (list: ManagedFields, entry: ManagedFields[number]) => list.some((o) => isDeepStrictEqual(o, entry));
  const replaced = before.flatMap((value, n) => (isIn(after, value) ? [] : [{ value, path: `${LIST}/${n}` }]));
  const added = after.filter((entry) => !isIn(before, entry));
  if (replaced.length + added.length === 0) return [];
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...replaced.map(({ path, value }) => ({ op: 'test', path, value }) as const),
    // From the end, so that the places of those before stay.
    ...replaced.toReversed().map(({ path }) => ({ op: 'remove', path }) as const),
    ...added.map((value) => ({ op: 'add', path: `${LIST}/-`, value }) as const),
  ];
}
