import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { broken, select } from './break.ts';
import { BREAKS } from './breaks.ts';
import { outcomeOf, type FileReport } from './runTests.ts';
import { hasTitle } from './titles.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('the breaks of guards', () => {
  it.each(BREAKS)('apply: $promise', ({ file, find, replace, test }) => {
    expect(broken(readFileSync(join(ROOT, file), 'utf8'), { find, replace }), `${file} once has ${find}`).toBeDefined();
    expect(replace).not.toBe(find);
    const text = readFileSync(join(ROOT, test.path), 'utf8');
    expect(test.name === undefined || hasTitle(text, test.name), `${test.path} has ${test.name}`).toBe(true);
  });

  it('have different promises, each one sentence', () => {
    expect(new Set(BREAKS.map(({ promise }) => promise)).size).toBe(BREAKS.length);
    expect(BREAKS.filter(({ promise }) => !/^[A-Z`].*[^.]\.$/.test(promise))).toEqual([]);
  });
});

describe('broken', () => {
  it.each([
    ['a guard that is there once', 'if (a) b();', 'if (true) b();'],
    ['a guard that is gone', 'b();', undefined],
    ['a guard that is there twice', 'a a', undefined],
  ])('%s', (_, text, changed) => {
    expect(broken(text, { find: 'a', replace: 'true' })).toBe(changed);
  });
});

describe('the title of a test', () => {
  const text = `
    describe.each([['one', 1]])('suite of %s', (_, n) => {
      it("is the first one's", () => expect(n).toBe(1));
      it.each([{ name: 'two' }])(\`has $name of \${n} things\`, () => {});
    });`;

  it.each([
    ["is the first one's", true],
    ['first', true],
    ['suite of one > is the first', true],
    ['of one > has two of 1 things', true],
    ['is the second one', false],
    ['suite of three', false],
    ['suite of one > was the first', false],
    ['has two of 1 thing more', false],
    ['two', true],
    ['three', false],
  ])('%s: %s', (name, isThere) => expect(hasTitle(text, name)).toBe(isThere));
});

describe('select', () => {
  const test = { project: 'unit', path: 'src/a.test.ts' } as const;
  const fast = { promise: 'A.', file: 'src/a.ts', find: '', replace: '', test };
  const slow = { ...fast, promise: 'B.', test: { ...test, path: 'test/faults/b.test.ts' }, slow: true } as const;

  it.each([
    ['all', {}, 'A. B.'],
    ['by a promise', { only: 'B.' }, 'B.'],
    ['by a test', { only: 'faults' }, 'B.'],
    ['by a changed guard', { changed: ['src/a.ts'] }, 'A. B.'],
    ['by a changed test', { changed: ['src/a.test.ts'] }, 'A.'],
    ['none, if nothing is changed', { changed: [] }, ''],
    ['without slow ones', { quick: true }, 'A.'],
  ])('%s', (_, selection, promises) => {
    const selected = select([fast, slow], selection);
    expect(selected.map(({ promise }) => promise).join(' ')).toBe(promises);
  });

  it('is an error if no break has the text, as with a typing error', () => {
    expect(() => select([fast, slow], { only: 'FAULTS', changed: [] })).toThrow(
      'no break has "FAULTS" in its promise, file or test (upper and lower case differ)',
    );
    expect(select([fast, slow], { only: 'B.', changed: [] })).toEqual([]);
  });
});

describe('the outcome of a test', () => {
  const result = (title: string, status: string, error?: string): FileReport['assertionResults'][number] => ({
    ...{ title, status, ancestorTitles: ['a suite'] },
    ...(error !== undefined && { failureMessages: [error] }),
  });

  it.each([
    ['it passed', [result('b', 'passed'), result('other', 'skipped')], '', 'passed'],
    ['it failed', [result('b', 'failed', 'no b\n  at x')], '', 'failed: no b'],
    ['only another test failed', [result('b', 'passed'), result('other', 'failed', 'no')], '', 'passed'],
    ['its suite could not be set up', [result('b', 'skipped')], 'no server\n  at x', 'not run: no server'],
    ['it is not there', [result('other', 'passed')], '', 'not run: no test has this name'],
  ])('%s', (_, assertionResults, message, expected) => {
    const test = { project: 'unit', path: 'a.test.ts', name: 'suite > b' } as const;
    const outcome = outcomeOf(test, { name: '/a.test.ts', message, assertionResults });
    expect(outcome.is === 'passed' ? outcome.is : `${outcome.is}: ${outcome.reason}`).toBe(expected);
  });
});
