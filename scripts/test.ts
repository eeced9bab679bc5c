/**
 * Runs the levels of tests, all of them even if one fails, and sums up the reports of the runners. Three groups run in
 * parallel: levels that mostly wait for servers, levels that wait for a cluster, and CPU-bound levels; within a group
 * they run one after the other. Levels with tight deadlines follow, then the long levels. A level that cannot run on this machine fails
 * unless it was left out by name, so a green run means that everything ran.
 *
 *   node scripts/test.ts [--only "unit lint"] [--with faults] [--without "e2e"]
 *
 * Exit status: 0 if everything passed, 1 if something failed, 2 for an unknown level, 130 after a signal.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { choose, type Choice } from './test/choose.ts';
import { COMMANDS } from './test/run/command.ts';
import { machineCpuSeconds } from './test/run/cpu.ts';
import { cleanCommit } from './test/change/git.ts';
import { LEVELS, type Level } from './test/levels.ts';
import { buildAhead, runLevel, runLevelBeside, type LevelResult } from './test/run/runLevel.ts';
import { phasesOf, type Lanes } from './test/run/schedule.ts';
import { countsOf, summarize } from './test/run/summary.ts';
import { writeTimes, type Times } from './test/run/times.ts';

/** The results of all levels, and what their builds took. */
interface Outcome {
  readonly results: readonly LevelResult[];
  readonly buildsCpuSeconds: number;
}

async function runAll({ chosen, leftOut }: Choice): Promise<number> {
  rmSync('reports', { recursive: true, force: true });
  mkdirSync('reports', { recursive: true });
  const commit = cleanCommit('.');
  const before = machineCpuSeconds();
  const start = performance.now();
  const { results, buildsCpuSeconds } = await runInOrder(phasesOf(chosen));
  const order = (one: LevelResult): number => chosen.findIndex(({ name }) => name === one.level);
  const levels = [...results].sort((a, b) => order(a) - order(b));
  const after = machineCpuSeconds();
  const times: Times = {
    date: new Date().toISOString(),
    ...(commit === undefined ? {} : { commit }),
    ...countsOf(levels),
    seconds: (performance.now() - start) / 1000,
    levels: levels.map(({ level, passed, failed, seconds, cpuSeconds }) => ({
      level,
      passed,
      failed,
      seconds,
      cpuSeconds,
    })),
    buildsCpuSeconds,
    ...(before === undefined || after === undefined ? {} : { machineCpuSeconds: after - before }),
  };
  writeTimes(times);
  const text = summarize(levels, leftOut, times);
  writeFileSync('reports/summary.txt', text);
  process.stdout.write(text);
  return times.failed > 0 ? 1 : 0;
}

async function runInOrder([first = [], ...later]: readonly Lanes[]): Promise<Outcome> {
  const waiting = first.flat().filter(({ waits }, n) => waits !== undefined && n > 0);
  const building = buildAhead([...waiting, ...later.flat(2)]);
  const run = async (levels: readonly Level[], lane: number): Promise<LevelResult[]> => {
    // A cluster starts after all builds: compilers use the whole machine, and the deadlines of a cluster would pass.
    if (levels[0]?.waits === 'for cluster') await building;
    return inTurn(levels, lane === 0 ? runLevel : runLevelBeside);
  };
  const results = (await Promise.all(first.map(run))).flat();
  const buildsCpuSeconds = await building;
  for (const lanes of later) results.push(...(await Promise.all(lanes.map(run))).flat());
  return { results, buildsCpuSeconds };
}

async function inTurn(levels: readonly Level[], runIt: (level: Level) => Promise<LevelResult>): Promise<LevelResult[]> {
  const results: LevelResult[] = [];
  for (const level of levels) results.push(await runIt(level));
  return results;
}

function chosenByArguments(): Choice | undefined {
  try {
    const list = { type: 'string' } as const;
    const { values } = parseArgs({ options: { only: list, with: list, without: list } });
    return choose(LEVELS, values);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}

COMMANDS.endOnSignals();
const choice = chosenByArguments();
process.exitCode = choice === undefined ? 2 : await runAll(choice);
