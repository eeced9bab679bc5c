import type { LevelResult } from './runLevel.ts';
import { cpuBesides, type Times } from './times.ts';

/** The summary of all levels. Its last line is `N passed, N failed`; no test at all counts as failed. */
export interface Summary {
  readonly text: string;
  readonly failed: number;
}

/** Sums up the levels that ran, with their times, and names those that were left out. */
export function summarize(results: readonly LevelResult[], leftOut: readonly string[], times: Times): Summary {
  const passed = total(results, (result) => result.passed);
  const failed = total(results, (result) => result.failed);
  const atLeastOne = passed + failed === 0 ? 1 : failed;
  const lines = [
    '',
    ...results.map(row),
    ...cpuBesides(times).map(([name, cpu]) => timeRow(name, name === 'total' ? times.seconds : undefined, cpu)),
    ...leftOut.map((name) => `  ${name.padEnd(14)} left out by name`),
    '',
    ...results.flatMap(failures),
    `${passed} passed, ${atLeastOne} failed`,
    '',
  ];
  return { text: lines.join('\n'), failed: atLeastOne };
}

/** Repeats the failures at the end, because the output of a level may be far above. */
function failures({ level, failures }: LevelResult): string[] {
  return failures.length === 0 ? [] : [`failed in ${level}:`, ...failures.map((failure) => `  ${failure}`), ''];
}

function total(results: readonly LevelResult[], count: (result: LevelResult) => number): number {
  return results.reduce((sum, result) => sum + count(result), 0);
}

function row({ level, passed, failed, seconds, cpuSeconds, problem }: LevelResult): string {
  const verdict = problem ?? (failed > 0 ? 'FAILED' : 'passed');
  const counts = `${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed`;
  return `${timeRow(level, seconds, cpuSeconds, counts)}  ${verdict}`;
}

function timeRow(name: string, seconds: number | undefined, cpuSeconds: number, counts = ''): string {
  const wall = seconds === undefined ? '' : `${seconds.toFixed(0)} s`;
  return `  ${name.padEnd(14)} ${counts.padEnd(24)} ${wall.padStart(7)} ${cpuSeconds.toFixed(0).padStart(6)} s CPU`;
}
