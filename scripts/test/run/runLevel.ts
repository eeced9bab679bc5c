import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countTests, type TestCounts } from './counts.ts';
import { runTimed, type Ended, type Where } from './command.ts';
import { errorsOutsideOf } from './errorsOutside.ts';
import type { Level } from '../levels.ts';

/** Result of a level. */
export interface LevelResult extends TestCounts {
  readonly level: string;
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
  const outside = fileURLToPath(new URL('errorsOutside.ts', import.meta.url));
  const reporters = ['--reporter=default', '--reporter=json', `--reporter=${outside}`, `--outputFile.json=${report}`];
  return ['vitest', 'run', ...projects.map((project) => `--project=${project}`), ...reporters, ...paths];
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
    const problem = problemOf(command.join(' '), await runIt(command));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(command: string, { status, overdueAfterMs }: Ended): string | undefined {
  if (overdueAfterMs !== undefined) return `FAILED: no end after ${overdueAfterMs / 60_000} min: ${command}`;
  return status === 0 ? undefined : `FAILED: ${command} (status ${status})`;
}

/** Runs one level to its end. Never throws: the result contains errors. @param limitMs of each of its commands */
export async function runLevel(level: Level, limitMs?: number): Promise<LevelResult> {
  console.log(`\n=== ${level.name}`);
  return runWith(level, { output: 'inherit', limitMs });
}

/** The same in parallel to others: prints its output as a whole at the end. */
export async function runLevelBeside(level: Level): Promise<LevelResult> {
  const log = `reports/${level.name}.log`;
  const output = openSync(log, 'w');
  const result = await runWith(level, { output });
  closeSync(output);
  console.log(`\n=== ${level.name}, with the others\n${readFileSync(log, 'utf8')}`);
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

async function runWith(level: Level, where: Where): Promise<LevelResult> {
  const start = performance.now();
  let cpuSeconds = 0;
  const report = `reports/${level.name}.json`;
  const written = {
    TEST_FILE_TIMES: resolve(fileTimesOf(level.name)),
    ERRORS_OUTSIDE: resolve(errorsOutsideOf(report)),
  };
  const env = { ...process.env, ...OF_MAKE, ...level.env, ...written };
  const runIt: Run = async (command) => {
    const ended = await runTimed([...priorityOf(level), ...command], { ...where, env });
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
  rmSync(errorsOutsideOf(report), { force: true });
  const ended = await runIt(vitestCommand(level, report));
  const counts = countTests(report);
  if (ended.overdueAfterMs === undefined && (ended.status === 0 || counts.failed > 0)) return result(counts);
  // Vitest may also fail, or hang, when all tests have passed.
  const why = ended.overdueAfterMs === undefined ? 'FAILED with no failed test' : problemOf('vitest', ended);
  return result({ ...counts, failed: Math.max(1, counts.failed) }, why);
}
