import { loadavg } from 'node:os';
import type { Result } from './figure.ts';
import { renderTable } from './table.ts';

/** The figures that miss a goal, as a table to print; undefined if there is none. */
export function missedGoals(results: readonly Result[]): string | undefined {
  const missed = results.filter(({ met }) => met === false);
  return missed.length === 0 ? undefined : `not met:\n${renderTable(missed)}`;
}

/** Makes the process end with status 1 if a goal is missed, and prints which, and the load of the machine. */
export function failIfMissed(results: readonly Result[], { cores }: { readonly cores: number }): void {
  const missed = missedGoals(results);
  if (missed === undefined) return;
  const load = `load of the machine: ${loadavg()[0]?.toFixed(1)}, on ${cores} cores; a busy one makes times longer`;
  console.log(`\n${missed}\n\n${load}`);
  process.exitCode = 1;
}

/** @throws RangeError with the name of the variable, if its text is not a number above 0 */
export function positiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new RangeError(`${name}=${text}: must be a number above 0`);
}

/** @throws RangeError with the name of the variable, if its text is not a whole number above 0 */
export function positiveInteger(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name}=${text}: must be a whole number above 0`);
}
