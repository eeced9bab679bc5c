/** 625 steps cover all pairs of 5,000 nodes with 10 peers: see `ringOffsets`. In 24 h there are 720 of this length. */
const SHORTEST_STEP_MS = 120_000;

/**
 * Returns the rotation step at a time. It follows from the wall clock, so that a restarted server continues with the same
 * step; a jump of the clock changes only the order of the steps. A step takes at least two intervals, so that each peer is
 * probed at least once.
 *
 * @param now wall clock, ms
 */
export function rotationStep(now: number, intervalMs: number): number {
  return Math.max(0, Math.floor(now / Math.max(SHORTEST_STEP_MS, 2 * intervalMs)));
}
