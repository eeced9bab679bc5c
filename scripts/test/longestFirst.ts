import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest test files, slowest first: more than a minute next to others on two cores. */
export const LONGEST: readonly string[] = [
  'src/connectivity/localise/timeline.test.ts',
  'test/integration/stacks/kills.test.ts',
  'test/faults/prometheusOutages.test.ts',
  'test/faults/apiServerStopped.test.ts',
  'test/faults/apiServerStorm.test.ts',
  'test/faults/leaderProcess.test.ts',
  'test/faults/prometheusTooLarge.test.ts',
  'test/faults/apiServerThrottled.test.ts',
  'test/integration/upgrade.test.ts',
  'test/integration/weights/tableWeight.test.ts',
  'test/integration/connectivity/stores.test.ts',
  'test/integration/oldCrd.test.ts',
  'test/integration/weights/twoClusters.test.ts',
  'test/integration/delayedLabels.test.ts',
  'test/integration/restart.test.ts',
  'test/integration/weights/sources.test.ts',
  'test/integration/weights/rampedWeight.test.ts',
  'test/integration/connectivityCheck.test.ts',
  'test/integration/olm/olm.test.ts',
  'test/integration/stacks/otherMonitoring.test.ts',
  'test/integration/stacks/builtIns.test.ts',
  'test/integration/stacks/defaultStack.test.ts',
  'test/integration/stacks/slowApi.test.ts',
  'test/integration/connectivity/dashboard.test.ts',
  'test/chart/install.test.ts',
  'test/chart/render.test.ts',
  // The stories that share one lab; of those, nodes kills a node of it. Then those that start and end labs.
  'test/e2e/story.test.ts',
  'test/e2e/connectivityFaults.test.ts',
  'test/e2e/stack.test.ts',
  'test/e2e/olm.test.ts',
  'test/e2e/options.test.ts',
  'test/e2e/otherMonitoring.test.ts',
  'test/e2e/lab.test.ts',
  'test/e2e/agentVerdicts.test.ts',
  'test/e2e/agentMeasures.test.ts',
  'test/e2e/nodes.test.ts',
  'test/e2e/demo.test.ts',
];

/** Moves the files of LONGEST to the front, in its order; the others keep theirs. */
export function longestFirst<T>(files: readonly T[], pathOf: (file: T) => string): T[] {
  const rank = (file: T): number => {
    const place = LONGEST.indexOf(pathOf(file));
    return place < 0 ? LONGEST.length : place;
  };
  return [...files].sort((a, b) => rank(a) - rank(b));
}

/**
 * Starts the slowest files first, so that no worker starts one when the others have ended. Vitest orders files by the
 * last run, which does not exist in a new checkout: it would use the file size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(await super.sort(files), ({ moduleId }) => relative('', moduleId));
  }
}
