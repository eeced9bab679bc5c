import { expect, it } from 'vitest';
import { ApiError, TransportError } from '../../../runtime/client/errors.ts';
import type { LabelChange } from '../model/label.ts';
import { isRefusedContent, RefusedKeys } from './nodeLabelWriter.ts';

const answer = (status: number, detail: string): ApiError =>
  new ApiError({ status, reason: 'x', detail, method: 'PATCH', path: '/api/v1/nodes/n1' });

it.each([
  ['a policy', answer(422, 'nodes "n1" is forbidden: ValidatingAdmissionPolicy \'p\' denied request'), true],
  ['a webhook', answer(403, 'admission webhook "w" denied the request: no'), true],
  ['a webhook with its own code', answer(400, 'admission webhook "w" denied the request: no'), true],
  ['a missing right', answer(403, 'nodes "n1" is forbidden: User "x" cannot patch resource "nodes"'), false],
  ['a webhook that does not answer', answer(500, 'failed calling webhook'), false],
  ['no answer', new TransportError('x', { failure: 'deadline' }), false],
])('the content of a patch is refused by %s: %s', (_, error, is) => expect(isRefusedContent(error)).toBe(is));

const ALL: LabelChange = { a: 'true', b: null, c: 'false' };

it.each<[string, string[], LabelChange, LabelChange[]]>([
  ['none was refused', [], ALL, [ALL]],
  ['one was refused', ['b'], ALL, [{ a: 'true', c: 'false' }, { b: null }]],
  ['all were refused', ['a', 'b', 'c'], ALL, [{ a: 'true' }, { b: null }, { c: 'false' }]],
  ['another was refused', ['x'], ALL, [ALL]],
])('splits a change if %s', (_, refused, labels, parts) => {
  const keys = new RefusedKeys();
  for (const key of refused) keys.refused(key);
  expect(keys.partsOf(labels)).toEqual(parts);
  keys.accepted(labels);
  expect(keys.partsOf(labels)).toEqual([labels]);
});

it('remembers a limited number of keys', () => {
  const keys = new RefusedKeys();
  for (let n = 0; n < 2_000; n++) keys.refused(`key-${n}`);
  const change = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`key-${n}`, null]));
  expect(keys.partsOf(change)).toHaveLength(1_001);
});
