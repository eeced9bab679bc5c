/** An hour, in seconds: more than any TTL or interval. */
export const HOUR_S = 3_600;

/** How the clock of a server that starts again differs from that of the server before: why, and the difference in seconds. */
export const RESTARTS: readonly (readonly [when: string, seconds: number])[] = [
  ['at the same time', 0],
  ['and its clock is an hour ahead', HOUR_S],
  ['and its clock is an hour behind', -HOUR_S],
];

/**
 * The option of Node that changes the clock of a process.
 *
 * @param module `shiftClock`: from the start on; `jumpClock`: from the signal SIGUSR2 on
 * @param seconds below zero: back
 */
export function clockOption(module: 'shiftClock' | 'jumpClock', seconds: number): string {
  return `--import=${new URL(`../../harness/${module}.ts?seconds=${seconds}`, import.meta.url).href}`;
}
