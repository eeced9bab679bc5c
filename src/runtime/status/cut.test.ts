import { expect, it } from 'vitest';
import { cut } from './cut.ts';

it.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a\u{1f600}b', 3, 'a\ufffd…'],
])('cuts %j to %i characters', (text, most, wanted) => {
  expect(cut(text, most)).toBe(wanted);
});
