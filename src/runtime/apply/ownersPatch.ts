import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '../client/client.ts';
import type { ManagedFields } from './managedFields.ts';

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
