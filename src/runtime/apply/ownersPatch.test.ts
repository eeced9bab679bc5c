import type { V1ManagedFieldsEntry } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { applyJsonPatch } from '../testing/fakeApi/writes.ts';
import { ownersPatch } from './managedFields.ts';

const entry = (manager: string, field = 'f:spec'): V1ManagedFieldsEntry => ({ manager, fieldsV1: { [field]: {} } });
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => entry(name)) as [
  ...[V1ManagedFieldsEntry, V1ManagedFieldsEntry, V1ManagedFieldsEntry, V1ManagedFieldsEntry],
];
const object = (managedFields: V1ManagedFieldsEntry[], uid = 'u') => ({ metadata: { uid, managedFields } });
const namesAfter = (before: V1ManagedFieldsEntry[], after: V1ManagedFieldsEntry[], found = before) => {
  const patched = applyJsonPatch(object(found), ownersPatch('u', before, after));
  return patched.metadata.managedFields.map(
    ({ manager, fieldsV1 }) => `${manager} ${Object.keys((fieldsV1 ?? {}) as object).join()}`,
  );
};

it('is empty if nothing changes', () => {
  expect(ownersPatch('u', [a, b], [structuredClone(a), b])).toEqual([]);
});

it('removes, replaces and adds entries, wherever they are', () => {
  expect(namesAfter([a, b, c, d], [b, { ...d, fieldsV1: { 'f:x': {} } }])).toEqual(['b f:spec', 'd f:x']);
  expect(namesAfter([a], [a, b])).toEqual(['a f:spec', 'b f:spec']);
});

it('keeps an entry that was added or changed meanwhile, if it is no other one of those that it replaces', () => {
  expect(namesAfter([a, b], [b], [a, entry('b', 'f:status'), c])).toEqual(['b f:status', 'c f:spec']);
});

it.each([
  ['an entry that it replaces', object([entry('a', 'f:x'), b])],
  ['the place of one', object([b, a])],
  ['the object', object([a, b], 'another')],
])('fails if somebody has changed %s', (_, found) => {
  expect(() => applyJsonPatch(found, ownersPatch('u', [a, b], [b]))).toThrow('another value at /metadata');
});
