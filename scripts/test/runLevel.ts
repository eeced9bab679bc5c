import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { runTimed, type Ended, type Where } from './cpu.ts';
import type { Level } from './levels.ts';

const MAX_LINES = 12;
const MAX_LINE_LENGTH = 300;

/** Result of a level. */
export interface LevelResult {
  readonly level: string;
  readonly passed: number;
  readonly failed: number;
  /** Failed tests and files, if a runner reported them: `<file> > <test>: <start of the error>`. */
  readonly failures: readonly string[];
  readonly seconds: number;
  /** User and system time of its commands, and of their descendants that were waited for. */
  readonly cpuSeconds: number;
  /** The reason why it did not complete, if it did not. */
  readonly problem?: string;
}

/** Runs a command with the priority of its level. */
type Run = (command: readonly string[]) => Promise<Ended>;

function vitestCommand(level: Level, report: string): string[] {
  const { projects, paths } = level.vitest!;
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return ['vitest', 'run', ...projects.map((project) => `--project=${project}`), ...reporters, ...paths];
}

interface VitestReport {
  numPassedTests: number;
  testResults: FileReport[];
}

interface FileReport {
  name: string;
  status: string;
  /** The reason why the file failed as a whole. */
  message: string;
  assertionResults: { status: string; fullName: string; failureMessages?: string[] }[];
}

/** Test counts and failures of a runner. */
export type TestCounts = Pick<LevelResult, 'passed' | 'failed' | 'failures'>;

/**
 * Counts the tests in vitest's report. A failed file without a failed test, such as one that did not load, counts as a
 * failed test. So does a report without tests.
 */
export function countTests(report: string): TestCounts {
  if (!existsSync(report)) return { passed: 0, failed: 1, failures: ['vitest wrote no report'] };
  const { numPassedTests: passed, testResults } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
  const failures = testResults.flatMap(failuresOf);
  if (passed + failures.length === 0) failures.push('no test ran');
  return { passed, failed: failures.length, failures };
}

function failuresOf({ name, status, message, assertionResults }: FileReport): string[] {
  const file = relative('', name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  // The file did not load, or its set-up failed.
  if (status === 'failed' && failed.length === 0) return [`${file}: ${startOf(message)}`];
  return failed.map((test) => `${file} > ${test.fullName}: ${startOf(test.failureMessages?.[0])}`);
}

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

/** The reason why a level cannot run. The check of a requirement, or its installation, may itself fail. */
function whyNot(level: Level): string | undefined {
  try {
    return level.unmet?.();
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n')[0];
  }
}

const buildCommand = (families: readonly string[]): string[] => ['test/lab/build.sh', ...families];

/**
 * Builds the programs of later levels while the first one runs, which takes longest on a machine without a cache. Does
 * not report build errors: the level that needs the program fails and reports them. Resolves to the CPU seconds.
 */
export async function buildAhead(levels: readonly Level[]): Promise<number> {
  const families = levels.filter((level) => whyNot(level) === undefined).flatMap(({ builds }) => builds ?? []);
  if (families.length === 0) return 0;
  return (await runTimed(buildCommand([...new Set(families)]), { output: 'inherit' })).cpuSeconds;
}

async function runCommands({ builds, commands = [] }: Level, runIt: Run): Promise<string | undefined> {
  for (const command of builds ? [buildCommand(builds), ...commands] : commands) {
    const { status } = await runIt(command);
    if (status !== 0) return `FAILED: ${command.join(' ')} (status ${status})`;
  }
  return undefined;
}

/** Runs one level to its end. Never throws: the result contains errors. */
export async function runLevel(level: Level): Promise<LevelResult> {
  console.log(`\n=== ${level.name}`);
  return runWith(level, 'inherit');
}

/** The same in parallel to others: prints its output as a whole at the end. */
export async function runLevelBeside(level: Level): Promise<LevelResult> {
  const log = `reports/${level.name}.log`;
  const output = openSync(log, 'w');
  const result = await runWith(level, output);
  closeSync(output);
  console.log(`\n=== ${level.name}, beside the others\n${readFileSync(log, 'utf8')}`);
  return result;
}

/**
 * A whole cluster waits for processors more often than a server, and its parts have leases to renew. Tests have deadlines. What only computes
 * comes last.
 */
function priorityOf({ waits, vitest }: Level): readonly string[] {
  if (waits === 'for cluster') return [];
  return vitest === undefined ? ['nice'] : ['nice', '-n', '5'];
}

/** A line of JSON for each test file, written by test/harness/fileTimes.ts. */
export const fileTimesOf = (level: string): string => `reports/${level}.files.jsonl`;

/**
 * The variables of `make test WITHOUT="e2e"`, which make passes on twice. Tests call make themselves, and there WITHOUT names features of a
 * bundle.
 */
const OF_MAKE = {
  MAKEFLAGS: undefined,
  MAKEOVERRIDES: undefined,
  WITH: undefined,
  WITHOUT: undefined,
  ONLY: undefined,
};

async function runWith(level: Level, output: Where['output']): Promise<LevelResult> {
  const start = performance.now();
  let cpuSeconds = 0;
  const env = { ...process.env, ...OF_MAKE, ...level.env, TEST_FILE_TIMES: resolve(fileTimesOf(level.name)) };
  const runIt: Run = async (command) => {
    const ended = await runTimed([...priorityOf(level), ...command], { output, env });
    cpuSeconds += ended.cpuSeconds;
    return ended;
  };
  const result = (counts: TestCounts, problem?: string): LevelResult => {
    const seconds = (performance.now() - start) / 1000;
    return { level: level.name, ...counts, seconds, cpuSeconds, ...(problem === undefined ? {} : { problem }) };
  };
  const failed: TestCounts = { passed: 0, failed: 1, failures: [] };
  const unmet = whyNot(level);
  if (unmet !== undefined) return result(failed, `cannot run: ${unmet}; WITHOUT="${level.name}" leaves it out`);
  const problem = await runCommands(level, runIt);
  if (problem !== undefined) return result(failed, problem);
  if (!level.vitest) return result({ passed: 1, failed: 0, failures: [] });
  const report = `reports/${level.name}.json`;
  const { status } = await runIt(vitestCommand(level, report));
  const counts = countTests(report);
  // Vitest also fails for errors outside of a test, such as an unhandled rejection.
  return status !== 0 && counts.failed === 0
    ? result({ ...counts, failed: 1 }, 'FAILED outside of a test')
    : result(counts);
}
