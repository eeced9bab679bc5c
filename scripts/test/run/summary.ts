import type { LevelResult } from './runLevel.ts';
import { cpuBesides, type Times } from './times.ts';

/** The counts of all levels; no test at all counts as failed. */
export function countsOf(results: readonly LevelResult[]): Pick<Times, 'passed' | 'failed'> {
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  const failed = results.reduce((sum, each) => sum + each.failed, 0);
  return { passed, failed: passed + failed === 0 ? 1 : failed };
}

/** The summary of the levels that ran, with their times, and the names of those that were left out. Its last line is `N passed, N failed`. */
export function summarize(results: readonly LevelResult[], leftOut: readonly string[], times: Times): string {
  return [
    '',
    ...results.map(row),
    ...cpuBesides(times).map(([name, cpu]) => timeRow(name, name === 'total' ? times.seconds : undefined, cpu)),
    ...leftOut.map((name) => `  ${name.padEnd(14)} left out by name`),
    '',
    ...results.flatMap(failures),
    `${times.passed} passed, ${times.failed} failed`,
    '',
  ].join('\n');
}

/** Repeats the failures at the end, because the output of a level may be far above. */
function failures({ level, failures }: LevelResult): string[] {
  return failures.length === 0 ? [] : [`failed in ${level}:`, ...failures.map((failure) => `  ${failure}`), ''];
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
