/** From the first to the last of one or two measurements in a row with the same result: ms of the clock of a view. */
export interface Period {
  readonly since: number;
  readonly last: number;
}

/** A probe is sent within this time after the start of its measurement, also on a busy node, ms. */
const MARGIN_MS = 1_000;

/**
 * The time from which on a result is certain. Of a single measurement, only the start is known, so one of another agent
 * that started a moment later may have been made before.
 */
export function certainSince({ since, last }: Period): number {
  return since === last ? since + MARGIN_MS : since;
}

/** Whether two results were true at the same time. Results of the same measurement were. */
export function overlap(a: Period, b: Period): boolean {
  return a.last === b.last || (certainSince(a) <= b.last && certainSince(b) <= a.last);
}
