/**
 * Runs the levels of tests one after the other, all of them even when one fails, and sums up from the runners' own
 * reports. A level that cannot run on this machine fails, unless it was left out by name: a green run means that
 * everything ran.
 *
 *   node scripts/test.ts [--only "unit lint"] [--with faults] [--without "e2e"]
 *
 * Exit status: 0 when everything passed, 1 when something failed, 2 for a level that there is not.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { choose, type Choice } from './test/choose.ts';
import { LEVELS } from './test/levels.ts';
import { runLevel, type LevelResult } from './test/runLevel.ts';
import { summarize } from './test/summary.ts';

async function run({ chosen, leftOut }: Choice): Promise<number> {
  rmSync('reports', { recursive: true, force: true });
  mkdirSync('reports', { recursive: true });
  const results: LevelResult[] = [];
  for (const level of chosen) results.push(await runLevel(level));
  const { text, failed } = summarize(results, leftOut);
  writeFileSync('reports/summary.txt', text);
  process.stdout.write(text);
  return failed > 0 ? 1 : 0;
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

const choice = chosenByArguments();
process.exitCode = choice === undefined ? 2 : await run(choice);
