/**
 * The size of a sample of random inputs: of a property test, or of a simulation over many seeds.
 *
 * The full samples take minutes of CPU, and a change elsewhere cannot alter their outcome. So every run takes a quick
 * sample with a fixed seed, in which a broken guard still fails; the long levels set FULL_SAMPLES=1 and take the full
 * one when the code under test changes (scripts/test/longLevels.ts).
 *
 * @returns `full` if the environment variable FULL_SAMPLES is 1, else `quick`: numbers of samples, or bounds for them
 */
export function sampleSize({ quick, full }: { readonly quick: number; readonly full: number }): number {
  return process.env.FULL_SAMPLES === '1' ? full : quick;
}

/** A full sample: how many runs, and the timeout of its test, by default five minutes. */
interface FullRuns {
  readonly numRuns: number;
  readonly timeoutMs?: number;
}

/**
 * Parameters for fc.assert: the quick sample has a fixed seed, the full one explores other inputs in each run. A full sample that takes too long
 * ends before the timeout of its test, whose error would not have the seed.
 */
export function sampleRuns(
  quick: { readonly numRuns: number; readonly seed: number },
  { numRuns, timeoutMs = 300_000 }: FullRuns,
) {
  const full = { numRuns, interruptAfterTimeLimit: 0.9 * timeoutMs, markInterruptAsFailure: true };
  return process.env.FULL_SAMPLES === '1' ? full : quick;
}
