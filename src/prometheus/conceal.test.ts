import { expect, it } from 'vitest';
import { conceal } from './prometheusClient.ts';

it.each([
  ['in plain text', 'sent: a+b/c==!', ['a+b/c=='], 'sent: [redacted]!'],
  ['everywhere', 'abcd abcd', ['abcd'], '[redacted] [redacted]'],
  ['with other line breaks', 'x one \n two three y', ['one two  three'], 'x [redacted] y'],
  ['in a URL', '?id=team%20a%2F7&x', ['team a/7'], '?id=[redacted]&x'],
  ['that is part of a longer one', 'token-1234 token', ['token', 'token-1234'], '[redacted] [redacted]'],
  ['with characters of a regular expression', 'aXXc a.*c', ['a.*c'], 'aXXc [redacted]'],
])('redacts a secret %s', (_what, text, secrets, rest) => {
  expect(conceal(text, secrets)).toBe(rest);
});
