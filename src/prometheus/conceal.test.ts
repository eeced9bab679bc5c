import { expect, it } from 'vitest';
import { conceal } from './conceal.ts';

it.each([
  ['as it is', 'sent: a+b/c==!', ['a+b/c=='], 'sent: [redacted]!'],
  ['everywhere', 'abcd abcd', ['abcd'], '[redacted] [redacted]'],
  ['on another number of lines', 'x one \n two three y', ['one two  three'], 'x [redacted] y'],
  ['in a URL', '?id=team%20a%2F7&x', ['team a/7'], '?id=[redacted]&x'],
  ['within a longer one', 'token-1234 token', ['token', 'token-1234'], '[redacted] [redacted]'],
  ['where it looks like a pattern', 'aXXc a.*c', ['a.*c'], 'aXXc [redacted]'],
])('takes a secret out %s', (_what, text, secrets, rest) => {
  expect(conceal(text, secrets)).toBe(rest);
});
