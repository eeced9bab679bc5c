import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { errorsOutsideOf, type ErrorOutside } from './errorsOutside.ts';

const MAX_LINES = 12;
const MAX_LINE_LENGTH = 300;

interface VitestReport {
  testResults: FileReport[];
}

interface FileReport {
  name: string;
  status: string;
  /** The reason why the file failed as a whole. */
  message: string;
  assertionResults: TestReport[];
}

interface TestReport {
  status: string;
  /** The names of its suites and its own, with spaces between them. */
  fullName: string;
  /** Also messages of attempts before one that passed. */
  failureMessages?: string[];
}

/** Test counts and failures of a runner. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** Failed tests and files, if a runner reported them: `<file> > <test>: <start of the error>`. */
  readonly failures: readonly string[];
}

/** Tests that need not run, since not every machine can; `test` is the title of a test, or of a suite of them. */
export const MAY_SKIP: readonly { readonly file: string; readonly test: string; readonly why: string }[] = [
  {
    file: 'src/commands/manager/options.test.ts',
    test: 'fails without any configuration, and does not guess a server',
    why: 'A pod has a configuration, its ServiceAccount.',
  },
  {
    file: 'scripts/test/run/times.test.ts',
    test: 'has the CPU time of its own and of a child that still runs',
    why: 'Only Linux has /proc.',
  },
  {
    file: 'scripts/labWait.test.ts',
    test: 'a wait of the lab, by the clock of the machine',
    why: 'The lab is for Linux.',
  },
  {
    file: 'test/integration/exporter.test.ts',
    test: 'listens on an IPv6 address as well',
    why: 'A container may have no IPv6.',
  },
];

/**
 * Counts the tests in vitest's report. Besides a test that failed, these count as failed: one that did not run, unless MAY_SKIP has it; one
 * that passed only when it was tried again; a failed file without a failed test, such as one that did not load; an error outside of tests; a
 * report without tests, and one that cannot be read.
 */
export function countTests(report: string): TestCounts {
  try {
    return existsSync(report)
      ? countsIn(readFileSync(report, 'utf8'), outside(report))
      : failedFor('vitest wrote no report');
  } catch (error) {
    return failedFor(`vitest's report cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const failedFor = (reason: string): TestCounts => ({ passed: 0, failed: 1, failures: [reason] });

function outside(report: string): string[] {
  const path = errorsOutsideOf(report);
  if (!existsSync(path)) return [];
  const errors = JSON.parse(readFileSync(path, 'utf8')) as ErrorOutside[];
  return errors.map(({ file = '', test, error }) => {
    const during = test === undefined ? relative('', file) : `${relative('', file)} > ${test}`;
    return `outside of a test${during && `, during ${during}`}: ${startOf(error)}`;
  });
}

function countsIn(report: string, outsideOfTests: readonly string[]): TestCounts {
  const { testResults } = JSON.parse(report) as VitestReport;
  const failures = [...testResults.flatMap(failuresOf), ...outsideOfTests];
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter((test) => test.status === 'passed' && !isTriedAgain(test)).length;
  return passed + failures.length === 0 ? failedFor('no test ran') : { passed, failed: failures.length, failures };
}

function failuresOf({ name, status, message, assertionResults }: FileReport): string[] {
  const file = relative('', name);
  const failed = assertionResults.flatMap((test) => {
    const problem = problemOf(file, test, status === 'failed');
    return problem === undefined ? [] : [`${file} > ${test.fullName}: ${problem}`];
  });
  // The file did not load, or its set-up failed.
  return status === 'failed' && failed.length === 0 ? [`${file}: ${startOf(message)}`] : failed;
}

/** Why a test counts as failed. The tests of a suite whose set-up failed are skipped: that counts once. */
function problemOf(file: string, test: TestReport, isFileFailed: boolean): string | undefined {
  if (test.status === 'failed') return startOf(test.failureMessages?.[0]);
  if (isTriedAgain(test)) return `it passed only when it was tried again: ${startOf(test.failureMessages?.[0])}`;
  const maySkip = MAY_SKIP.some((one) => one.file === file && test.fullName.includes(one.test));
  return test.status === 'passed' || isFileFailed || maySkip ? undefined : 'it did not run';
}

const isTriedAgain = ({ status, failureMessages = [] }: TestReport): boolean =>
  status === 'passed' && failureMessages.length > 0;

/**
 * An error without its stack. A failed command names itself in the first line and its reason below, and a comparison
 * has its values there: where only the summary is kept, nothing else tells why a test failed.
 */
function startOf(text = ''): string {
  const [message = ''] = text.trim().split(/\n\s+at /);
  const lines = message
    .split('\n')
    .slice(0, MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_LENGTH));
  return message === '' ? 'no reason given' : lines.join('\n    ');
}
