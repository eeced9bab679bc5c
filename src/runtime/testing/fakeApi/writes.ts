import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import { applyMergePatch } from '../../apply/mergePatch.ts';
import type { KubeObject } from '../../client/resource.ts';
import { entryOf, fieldsOf, giveUp, isBy, owns, valueAt, without, type Writer } from './fieldOwners.ts';
import type { JsonPatchOperation } from '../../client/client.ts';

/** Fields of other managers that an apply would change, by manager. */
export class FieldConflict extends Error {
  readonly manager: string;
  readonly field: string;

  constructor(manager: string, path: readonly string[]) {
    const field = `.${path.join('.')}`;
    super(`Apply failed with 1 conflict: conflict with "${manager}": ${field}`);
    this.manager = manager;
    this.field = field;
  }
}

/**
 * Server-side apply: sets the fields of `desired`, removes those that the writer owned before and nobody else owns.
 *
 * @throws FieldConflict when another manager owns a field with another value, unless `force`, which takes it over
 */
export function applied(current: KubeObject, desired: KubeObject, writer: Writer, force: boolean): KubeObject {
  const managed = ownersAtApply(current, writer);
  const others = managed.filter((entry) => !isBy(entry, writer));
  const own = managed.find((entry) => isBy(entry, writer));
  const paths = fieldsOf(desired);
  const changed = paths.filter((path) => !isDeepStrictEqual(valueAt(current, path), valueAt(desired, path)));
  if (!force) {
    for (const path of changed) {
      const other = others.find((entry) => owns(entry, path));
      if (other !== undefined) throw new FieldConflict(other.manager ?? '', path);
    }
  }
  const isWanted = (path: readonly string[]): boolean => valueAt(desired, path) !== undefined;
  const dropped = fieldsOf(current).filter(
    (path) => own !== undefined && owns(own, path) && !isWanted(path) && !others.some((entry) => owns(entry, path)),
  );
  const kept = dropped.reduce<unknown>(without, current);
  const merged = applyMergePatch(kept, withOtherReferences(desired, kept as KubeObject)) as KubeObject;
  return withOwners(merged, [...takenFrom(others, changed), entryOf(writer, paths)]);
}

/** An object without owners: the API server makes `before-first-apply` the owner of all its fields. */
function ownersAtApply(current: KubeObject, { apiVersion }: Writer): V1ManagedFieldsEntry[] {
  const { managedFields = [], resourceVersion } = current.metadata ?? {};
  if (managedFields.length > 0 || resourceVersion === undefined) return managedFields;
  return [entryOf({ manager: 'before-first-apply', operation: 'Update', apiVersion }, fieldsOf(current))];
}

/** Returns the desired object, with the owner references of other managers besides its own. */
function withOtherReferences(desired: KubeObject, { metadata }: KubeObject): KubeObject {
  const wanted = desired.metadata?.ownerReferences;
  if (wanted === undefined) return desired;
  const others = (metadata?.ownerReferences ?? []).filter(({ uid }) => !wanted.some((own) => own.uid === uid));
  return { ...desired, metadata: { ...desired.metadata, ownerReferences: [...others, ...wanted] } };
}

/** A merge patch: the writer owns what it changed, others give it up. */
export function patched(current: KubeObject, patch: unknown, writer: Writer): KubeObject {
  const after = applyMergePatch(current, patch) as KubeObject;
  return updated(current, after, writer);
}

/** An update from one object to another: the writer owns what it changed, others give it up. */
export function updated(current: KubeObject, after: KubeObject, writer: Writer): KubeObject {
  const before = current.metadata?.managedFields ?? [];
  const owners = after.metadata?.managedFields ?? [];
  // A patch of managedFields itself is taken as it is; one empty entry clears them.
  if (!isDeepStrictEqual(owners, before)) return isDeepStrictEqual(owners, [{}]) ? withOwners(after, []) : after;
  const isChanged = (path: readonly string[]): boolean =>
    !isDeepStrictEqual(valueAt(current, path), valueAt(after, path));
  const changed = fieldsOf(after).filter(isChanged);
  const gone = fieldsOf(current).filter((path) => valueAt(after, path) === undefined);
  if (changed.length + gone.length === 0) return after;
  const own = before.find((entry) => isBy(entry, writer));
  const owned = fieldsOf(after).filter((path) => isChanged(path) || (own !== undefined && owns(own, path)));
  const others = before.filter((entry) => !isBy(entry, writer));
  const mine = owned.length === 0 ? [] : [entryOf(writer, owned)];
  return withOwners(after, [...takenFrom(others, [...changed, ...gone]), ...mine]);
}

function takenFrom(entries: readonly V1ManagedFieldsEntry[], paths: readonly (readonly string[])[]) {
  return entries.map((entry) => giveUp(entry, paths)).filter((entry) => entry !== undefined);
}

function withOwners(object: KubeObject, managedFields: V1ManagedFieldsEntry[]): KubeObject {
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

type Node = Record<string, unknown> | unknown[];

/** A test of a JSON patch failed, or there is nothing at its path. */
export class PatchFailure extends Error {}

/** A copy with the operations of a JSON patch (RFC 6902). @throws PatchFailure */
export function applyJsonPatch<T>(object: T, operations: readonly JsonPatchOperation[]): T {
  const copy = structuredClone(object);
  for (const operation of operations) apply(copy as Node, operation);
  return copy;
}

function apply(root: Node, operation: JsonPatchOperation): void {
  const steps = operation.path.split('/').slice(1);
  const key = steps.pop() ?? '';
  const parent = steps.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], root);
  if (typeof parent !== 'object' || parent === null) throw new PatchFailure(`nothing at ${operation.path}`);
  const at = parent as Record<string, unknown>;
  const isThere = Object.hasOwn(at, key);
  if (operation.op === 'add') {
    if (!Array.isArray(parent)) at[key] = operation.value;
    else parent.splice(key === '-' ? parent.length : Number(key), 0, operation.value);
    return;
  }
  if (!isThere) throw new PatchFailure(`nothing at ${operation.path}`);
  if (operation.op === 'remove') {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else Reflect.deleteProperty(at, key);
  } else if (!isDeepStrictEqual(at[key], operation.value)) {
    throw new PatchFailure(`another value at ${operation.path}`);
  }
}
