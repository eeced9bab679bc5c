import { expect, it } from 'vitest';
import { isWithin } from './domain.ts';

it.each([
  ['foo.io', 'foo.io', true],
  ['a.foo.io', 'foo.io', true],
  ['a.b.foo.io', 'foo.io', true],
  ['*.foo.io', 'foo.io', true],
  ['a.foo.io', '.foo.io', true],
  ['foo.io', '.foo.io', false],
  ['evilfoo.io', '.foo.io', false],
  ['A.Foo.IO', 'foo.io', true],
  ['a.foo.io', 'foo.io.', true],
  ['anything.example', '', true],
  ['evilfoo.io', 'foo.io', false],
  ['foo.io.evil.example', 'foo.io', false],
  ['io', 'foo.io', false],
  ['', 'foo.io', false],
])('host %s within domain %s: %s', (host, domain, wanted) => expect(isWithin(host, domain)).toBe(wanted));
