/**
 * Breaks guards one by one in a copy of the checkout, and expects the test of each to fail. First all these tests must pass without a break:
 * a test that fails anyway would count as one that catches it.
 *
 *   node test/guards/main.ts [--only TEXT] [--changed COMMIT] [--quick]
 *
 * `--only` takes the breaks with this text in the promise, the file or the test; `--changed` those whose file or test differs from a commit;
 * `--quick` leaves out slow ones. Exit status: 0 if every break is caught, else 1, also if no break has the TEXT; 130 after a signal.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LEVELS } from '../../scripts/test/levels.ts';
import { broken, select, type Break, type GuardTest } from './break.ts';
import { BREAKS } from './breaks.ts';
import { copyOf, type Copy } from './copy.ts';
import { runsAlone, TestRuns, type Outcome } from './runTests.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The outcome of a break. */
interface Result {
  readonly verdict: 'caught' | 'NOT caught' | 'does not apply';
  readonly reason: string;
}

/** Breaks whose tests run at once: of one project, by their names or with all others of their files. */
function groupsOf(breaks: readonly Break[]): Break[][] {
  return [...Map.groupBy(breaks, ({ test }) => `${test.project} ${runsAlone(test)}`).values()];
}

/** Why a break proves nothing, since its test does not pass without it; none of these breaks is tried. */
async function unusable(breaks: readonly Break[], tests: TestRuns): Promise<ReadonlyMap<Break, string>> {
  const reasons = new Map<Break, string>();
  for (const group of groupsOf(breaks)) {
    const [seconds, outcomes] = await timed(() => tests.run(group.map(({ test }) => test)));
    outcomes.forEach((outcome, place) => {
      if (outcome.is !== 'passed')
        reasons.set(group[place]!, `without the break, the test ${outcome.is}: ${outcome.reason}`);
    });
    const { project } = group[0]!.test;
    print(
      'unbroken',
      seconds,
      `${project}: ${group.length} tests, ${group.filter((each) => !reasons.has(each)).length} pass`,
    );
  }
  return reasons;
}

async function tryOut(one: Break, copy: Copy, run: (test: GuardTest) => Promise<Outcome>): Promise<Result> {
  const text = copy.read(one.file);
  const changed = broken(text, one);
  if (changed === undefined) return { verdict: 'does not apply', reason: `${one.file} has the guard not exactly once` };
  copy.write(one.file, changed);
  try {
    return judged(await run(one.test));
  } finally {
    copy.write(one.file, text);
  }
}

function judged(outcome: Outcome): Result {
  switch (outcome.is) {
    case 'passed':
      return { verdict: 'NOT caught', reason: 'the test passes' };
    case 'failed':
      return { verdict: 'caught', reason: outcome.reason };
    case 'not run':
      return { verdict: 'does not apply', reason: `the test did not run: ${outcome.reason}` };
  }
}

async function timed<T>(work: () => Promise<T>): Promise<[seconds: number, result: T]> {
  const start = performance.now();
  const result = await work();
  return [(performance.now() - start) / 1_000, result];
}

function print(verdict: string, seconds: number, text: string): void {
  console.log(`${verdict.padEnd(14)} ${seconds.toFixed(1).padStart(6)} s  ${text}`);
}

function chosen(): Break[] {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { only: text, changed: text, quick: { type: 'boolean' } } });
  const { only, changed: base, quick } = values;
  const differing = (commit: string) =>
    execFileSync('git', ['diff', '--name-only', commit], { cwd: ROOT, encoding: 'utf8' });
  return select(BREAKS, { only, quick, changed: base === undefined ? undefined : differing(base).split('\n') });
}

/** Builds the programs that the tests start, as before their levels. @throws Error if that fails */
function prepare(breaks: readonly Break[]): void {
  const projects = new Set<string>(breaks.map(({ test }) => test.project));
  for (const { builds, commands = [] } of LEVELS.filter(({ name }) => projects.has(name))) {
    for (const [program = '', ...args] of [...(builds ? [['test/lab/build.sh', ...builds]] : []), ...commands]) {
      execFileSync(program, args, { cwd: ROOT, stdio: 'inherit' });
    }
  }
}

/** @returns how many breaks are not caught */
async function tryAll(breaks: readonly Break[], copy: Copy, tests: TestRuns): Promise<number> {
  const reasons = await unusable(breaks, tests);
  let caught = 0;
  for (const one of breaks) {
    const reason = reasons.get(one);
    const [seconds, result] = await timed(() =>
      reason === undefined
        ? tryOut(one, copy, async (test) => (await tests.run([test], { bail: true }))[0]!)
        : Promise.resolve<Result>({ verdict: 'does not apply', reason }),
    );
    if (result.verdict === 'caught') caught++;
    print(result.verdict, seconds, `${one.promise}\n${' '.repeat(25)}${one.test.path}: ${result.reason}`);
  }
  console.log(`${caught} caught, ${breaks.length - caught} not caught`);
  return breaks.length - caught;
}

function chosenOrExit(): Break[] {
  try {
    return chosen();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

const breaks = chosenOrExit();
prepare(breaks);
const copy = copyOf(ROOT);
const tests = new TestRuns(copy);
tests.endOnSignals();
try {
  process.exitCode = (await tryAll(breaks, copy, tests)) > 0 ? 1 : 0;
} finally {
  copy.remove();
}
