import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Level } from './levels.ts';

/** How a level went. */
export interface LevelResult {
  readonly level: string;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** Why it did not run to its end, if it did not. */
  readonly problem?: string;
}

/** Runs a command with its output shown; resolves to its exit status, 1 where a signal ended it. */
function run([program = '', ...args]: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(127);
    });
    child.on('exit', (status) => resolve(status ?? 1));
  });
}

function vitestCommand(level: Level, report: string): string[] {
  const { project, paths } = level.vitest!;
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return ['vitest', 'run', '--project', project, ...reporters, ...paths];
}

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/**
 * Counts from vitest's own report. A file that failed without a failed test, as one that did not load, counts as a
 * failed test; so does no test at all.
 */
export function countTests(report: string): { passed: number; failed: number } {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
  const failed = numFailedTests + testResults.filter(failedAsAWhole).length;
  return { passed: numPassedTests, failed: numPassedTests + failed === 0 ? 1 : failed };
}

function failedAsAWhole({ status, assertionResults }: VitestReport['testResults'][number]): boolean {
  return status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
}

/** Why a level cannot run; what its requirement is looked at or installed with may itself fail. */
function whyNot(level: Level): string | undefined {
  try {
    return level.unmet?.();
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n')[0];
  }
}

async function runCommands(level: Level): Promise<string | undefined> {
  for (const command of level.commands) {
    const status = await run(command);
    if (status !== 0) return `FAILED: ${command.join(' ')} (status ${status})`;
  }
  return undefined;
}

/** Runs one level to its end. Never throws: what goes wrong is in the result. */
export async function runLevel(level: Level): Promise<LevelResult> {
  console.log(`\n=== ${level.name}`);
  const start = performance.now();
  const result = (passed: number, failed: number, problem?: string): LevelResult => {
    const seconds = (performance.now() - start) / 1000;
    return { level: level.name, passed, failed, seconds, ...(problem === undefined ? {} : { problem }) };
  };
  const unmet = whyNot(level);
  if (unmet !== undefined) return result(0, 1, `cannot run: ${unmet}; WITHOUT="${level.name}" leaves it out`);
  const problem = await runCommands(level);
  if (problem !== undefined) return result(0, 1, problem);
  if (!level.vitest) return result(1, 0);
  const report = `reports/${level.name}.json`;
  const status = await run(vitestCommand(level, report));
  const { passed, failed } = countTests(report);
  // Vitest also fails for what happened outside of a test, such as an unhandled rejection.
  return status !== 0 && failed === 0 ? result(passed, 1, 'FAILED outside of a test') : result(passed, failed);
}
