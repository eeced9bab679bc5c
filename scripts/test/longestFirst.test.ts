import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LONGEST, longestFirst } from './longestFirst.ts';

it('starts the longest files first, in their order, and leaves the others in theirs', () => {
  const [first, second] = [LONGEST[0]!, LONGEST[1]!];
  const files = ['b.test.ts', second, 'a.test.ts', first];
  expect(longestFirst(files, (file) => file)).toEqual([first, second, 'b.test.ts', 'a.test.ts']);
});

it.each(LONGEST)('%s exists', (file) => expect(existsSync(file)).toBe(true));
