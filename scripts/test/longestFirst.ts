import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, longest first: more than 100 s beside others on two cores. */
export const LONGEST: readonly string[] = [
  'test/faults/prometheusOutages.test.ts',
  'test/faults/apiServerStopped.test.ts',
  'test/faults/apiServerStorm.test.ts',
  'test/faults/leaderProcess.test.ts',
  'test/faults/prometheusTooLarge.test.ts',
  'test/faults/apiServerThrottled.test.ts',
  'test/integration/missingRights.test.ts',
  'test/integration/deployment.test.ts',
  'test/integration/notMeasurable.test.ts',
  'test/chart/install.test.ts',
  'test/chart/render.test.ts',
];

/** Moves the files of LONGEST to the front, in its order; the others stay in theirs. */
export function longestFirst<T>(files: readonly T[], pathOf: (file: T) => string): T[] {
  const rank = (file: T): number => {
    const place = LONGEST.indexOf(pathOf(file));
    return place < 0 ? LONGEST.length : place;
  };
  return [...files].sort((a, b) => rank(a) - rank(b));
}

/**
 * Starts the longest files first, so that no worker begins one when the others have ended. Vitest orders by the last
 * run, of which a new checkout knows nothing: it would go by the size of the files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(await super.sort(files), ({ moduleId }) => relative('', moduleId));
  }
}
