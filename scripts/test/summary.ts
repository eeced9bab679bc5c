import type { LevelResult } from './runLevel.ts';

/** The summary of all levels. Its last line is `N passed, N failed`; no test at all counts as failed. */
export interface Summary {
  readonly text: string;
  readonly failed: number;
}

/** Sums up the levels that ran and names those that were left out. */
export function summarize(results: readonly LevelResult[], leftOut: readonly string[]): Summary {
  const passed = total(results, (result) => result.passed);
  const failed = total(results, (result) => result.failed);
  const atLeastOne = passed + failed === 0 ? 1 : failed;
  const lines = [
    '',
    ...results.map(row),
    ...leftOut.map((name) => `  ${name.padEnd(12)} left out by name`),
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

function row({ level, passed, failed, seconds, problem }: LevelResult): string {
  const verdict = problem ?? (failed > 0 ? 'FAILED' : 'passed');
  return `  ${level.padEnd(12)} ${String(passed).padStart(5)} passed ${String(failed).padStart(4)} failed ${seconds.toFixed(0).padStart(5)} s  ${verdict}`;
}
