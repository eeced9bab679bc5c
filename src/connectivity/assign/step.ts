/** 625 steps cover all pairs of 5,000 nodes with 10 peers: see `ringOffsets`. In 24 h there are 720 of this length. */
const SHORTEST_STEP_MS = 120_000;

/**
 * The rotation step at a time. It follows from the wall clock, so that a restart of the server does not begin anew; if
 * the clock jumps, nothing but the order of the steps changes. A step is two intervals at least, so that each peer is
 * probed once or more.
 *
 * @param now wall clock, ms
 */
export function rotationStep(now: number, intervalMs: number): number {
  return Math.max(0, Math.floor(now / Math.max(SHORTEST_STEP_MS, 2 * intervalMs)));
}
