import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { depthOf, sizesOf, upwardImports } from './structure/figures.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** The limits of src. Lower a number when the structure has become smaller. `make structure` prints the figures. */
const MOST = { files: 547, lines: 73_020, depth: 4 };

describe('the structure of src', () => {
  const sizes = sizesOf(ROOT);
  it.each(Object.entries(MOST))('has at most the %s of the limit: %d', (name, most) => {
    expect(sizes[name as keyof typeof MOST]).toBeLessThanOrEqual(most);
  });
});

describe('imports of a later stage', () => {
  const upward = (from: string, to: string): boolean =>
    upwardImports([{ from: `src/${from}`, to: `src/${to}` }]).length > 0;

  it.each([
    ['controllers/a/observe/x.ts', 'controllers/a/decide/y.ts'],
    ['controllers/a/observe/deep/x.ts', 'controllers/a/act/y.ts'],
    ['controllers/a/decide/x.ts', 'controllers/a/act/deep/y.ts'],
  ])('are counted: %s -> %s', (from, to) => {
    expect(upward(from, to)).toBe(true);
  });

  it.each([
    ['controllers/a/decide/x.ts', 'controllers/a/observe/y.ts', 'an earlier stage'],
    ['controllers/a/observe/x.ts', 'controllers/a/observe/deep/y.ts', 'the same stage'],
    ['controllers/a/observe/x.ts', 'controllers/b/decide/y.ts', 'another wing'],
    ['controllers/a/reconcile.ts', 'controllers/a/act/y.ts', 'of no stage'],
  ])('are not counted: %s -> %s, %s', (from, to) => {
    expect(upward(from, to)).toBe(false);
  });
});

it('the depth of a file is the number of folders between src and the file', () => {
  expect(['src/a.ts', 'src/a/b.ts', 'src/a/b/c/d.ts'].map(depthOf)).toEqual([0, 1, 3]);
});
