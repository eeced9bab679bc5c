import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countTests, MAY_SKIP } from './counts.ts';
import { errorsOutsideOf } from './errorsOutside.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ERRORS_OUTSIDE = fileURLToPath(new URL('errorsOutside.ts', import.meta.url));
const NODE_MODULES = join(ROOT, 'node_modules');
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'counts-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const PASSES = "import { it } from 'vitest'; it('a', () => {});";
const FAILS = "import { it } from 'vitest'; it('a', () => { throw new Error('wrong\\nin lines'); });";
const DOES_NOT_LOAD = "import './absent.ts';";
const HOOK_FAILS = `import { beforeAll, it } from 'vitest'; beforeAll(() => { throw new Error('no database'); }); it('a', () => {});`;
const SKIPS = `import { describe, it } from 'vitest';
  it.skip('b', () => {});
  describe.skip('c', () => { it('d', () => {}) });
  it.todo('e');
  it('f', ({ skip }) => skip());`;
const NOBODY_AWAITS = `import { it } from 'vitest';
  it('c', async () => { void Promise.reject(new Error('lost')); await new Promise((done) => setTimeout(done)); });`;
const RETRIES = `import { it } from 'vitest'; let n = 0;
  it('a', { retry: 2 }, () => {});
  it('b', { retry: 2 }, () => { if (n++ === 0) throw new Error('the first'); });`;

describe('the report of vitest', () => {
  /** Runs vitest on these files, and resolves to the path of what it reports. */
  function reportOf(files: readonly string[]): Promise<string> {
    symlinkSync(NODE_MODULES, join(directory, 'node_modules'));
    files.forEach((text, index) => writeFileSync(join(directory, `${index}.test.ts`), text));
    const report = join(directory, 'report.json');
    const reporters = ['--reporter=json', `--reporter=${ERRORS_OUTSIDE}`, `--outputFile.json=${report}`];
    return new Promise((resolve) => {
      const PATH = `${NODE_MODULES}/.bin:${process.env.PATH ?? ''}`;
      const env = { PATH, ERRORS_OUTSIDE: errorsOutsideOf(report) };
      execFile(join(NODE_MODULES, '.bin/vitest'), ['run', '--no-cache', ...reporters], { cwd: directory, env }, () =>
        resolve(report),
      );
    });
  }

  it.each([
    ['passed and failed tests', [PASSES, FAILS], 1, [/1\.test\.ts > a: Error: wrong\n {4}in lines$/]],
    [
      'a file that did not load and one whose set-up failed',
      [PASSES, DOES_NOT_LOAD, HOOK_FAILS],
      1,
      [/1\.test\.ts: .*absent\.ts/, /2\.test\.ts: .*no database/],
    ],
    [
      'errors outside of tests',
      [PASSES, NOBODY_AWAITS],
      2,
      [/^outside of a test, during .*1\.test\.ts > c: Error: lost$/],
    ],
    ['no test at all', [], 0, [/^no test ran$/]],
    [
      'tests that did not run',
      [PASSES, SKIPS],
      1,
      ['b', 'c d', 'e', 'f'].map((test) => new RegExp(`1\\.test\\.ts > ${test}: it did not run`)),
    ],
    [
      'a test that passed when it was tried again',
      [RETRIES],
      1,
      [/0\.test\.ts > b: it passed only when it was tried again: Error: the first$/],
    ],
  ])('counts %s, and names what failed', { timeout: 30_000 }, async (_what, files, passed, failures) => {
    expect(countTests(await reportOf(files))).toEqual({
      passed,
      failed: failures.length,
      failures: failures.map((pattern) => expect.stringMatching(pattern) as string),
    });
  });

  it('counts as failed when there is none, or only a part of it', () => {
    const report = join(directory, 'report.json');
    expect(countTests(report)).toEqual({ passed: 0, failed: 1, failures: ['vitest wrote no report'] });
    writeFileSync(report, '{ "numPassedTests": 7, "testRes');
    expect(countTests(report)).toEqual({
      ...{ passed: 0, failed: 1 },
      failures: [expect.stringMatching(/^vitest's report cannot be read: .*JSON/)],
    });
  });

  it('has no failures for tests that some machines cannot run, which exist', () => {
    for (const { file, test } of MAY_SKIP) {
      const report = {
        testResults: [
          { name: file, status: 'passed', message: '', assertionResults: [{ status: 'skipped', fullName: test }] },
        ],
      };
      writeFileSync(join(directory, 'report.json'), JSON.stringify(report));
      expect(countTests(join(directory, 'report.json'))).toMatchObject({ failures: ['no test ran'] });
      expect(readFileSync(join(ROOT, file), 'utf8')).toContain(`'${test}'`);
    }
  });
});
