import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ProcessGroups } from '../../scripts/test/run/processGroups.ts';
import type { GuardTest } from './break.ts';
import type { Copy } from './copy.ts';
import { escaped } from './titles.ts';

/** How a test ended. `reason` is the start of the error, one line. */
export type Outcome =
  | { readonly is: 'passed' }
  | { readonly is: 'failed'; readonly reason: string }
  | { readonly is: 'not run'; readonly reason: string };

/** Part of vitest's report. */
export interface FileReport {
  readonly name: string;
  /** Why the file failed as a whole. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly ancestorTitles: readonly string[];
    readonly title: string;
    readonly failureMessages?: readonly string[];
  }[];
}

const LONGEST_REASON = 110;

/** Whether the test runs without the others of its file. */
export function runsAlone({ name, wholeFile }: GuardTest): boolean {
  return name !== undefined && wholeFile !== true;
}

/** Runs tests in a copy, one run of vitest at a time. */
export class TestRuns {
  readonly #copy: Copy;
  readonly #groups = new ProcessGroups();

  constructor(copy: Copy) {
    this.#copy = copy;
  }

  /**
   * Runs tests of one project at once. Either all of them run alone, or none does.
   *
   * @param bail ends the run with the first failure: others may wait for minutes in vain
   * @returns the outcome of each, in their order
   */
  async run(tests: readonly GuardTest[], { bail = false } = {}): Promise<Outcome[]> {
    const [first] = tests;
    if (first === undefined) return [];
    const report = join(this.#copy.temporary, 'report.json');
    rmSync(report, { force: true });
    const names = tests.filter(runsAlone).map(({ name = '' }) => escaped(name));
    await this.#vitest([
      ...['run', '--project', first.project],
      ...['--reporter=json', `--outputFile.json=${report}`],
      ...(bail ? ['--bail=1'] : []),
      ...(names.length > 0 ? ['-t', names.join('|')] : []),
      ...new Set(tests.map(({ path }) => path)),
    ]);
    if (!existsSync(report)) return tests.map(() => ({ is: 'not run', reason: this.#error() }));
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { testResults: readonly FileReport[] };
    return tests.map((test) => {
      const file = testResults.find(({ name }) => name === join(this.#copy.root, test.path));
      return file === undefined ? { is: 'not run', reason: this.#error() } : outcomeOf(test, file);
    });
  }

  /** At a signal, ends vitest with its workers, and removes the copy. */
  endOnSignals(): void {
    this.#groups.endOnSignals(() => this.#copy.remove());
  }

  get #log(): string {
    return join(this.#copy.temporary, 'log');
  }

  /** Why vitest ran no test: the set-up of the project failed, or the file is not of it. */
  #error(): string {
    const lines = readFileSync(this.#log, 'utf8').split('\n');
    return startOf(lines.find((line) => /^\w*Error: /.test(line)) ?? 'vitest found no such test');
  }

  #vitest(args: readonly string[]): Promise<void> {
    const { root, temporary } = this.#copy;
    const output = openSync(this.#log, 'w');
    const child = this.#groups.start(join(root, 'node_modules/.bin/vitest'), args, {
      ...{ cwd: root, stdio: ['ignore', output, output] },
      env: { ...process.env, TMPDIR: temporary, NO_COLOR: '1' },
    });
    closeSync(output);
    return new Promise((resolve, reject) => {
      child?.once('error', reject);
      child?.once('exit', () => resolve());
    });
  }
}

/** How a test ended, by vitest's report about its file. */
export function outcomeOf({ name = '' }: GuardTest, file: FileReport): Outcome {
  const results = file.assertionResults.filter(({ ancestorTitles, title }) =>
    [...ancestorTitles, title].join(' > ').includes(name),
  );
  const failed = results.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { is: 'failed', reason: startOf(failed.failureMessages?.[0]) };
  // Vitest skips what the name does not match, and all tests of a suite whose set-up failed.
  if (results.some(({ status }) => status === 'passed')) return { is: 'passed' };
  return { is: 'not run', reason: file.message === '' ? 'no test has this name' : startOf(file.message) };
}

function startOf(message = ''): string {
  return message.trim().split('\n')[0]!.slice(0, LONGEST_REASON);
}
