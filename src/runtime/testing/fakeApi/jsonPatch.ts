import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '../../client/client.ts';

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
