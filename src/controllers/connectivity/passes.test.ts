import { expect, it } from 'vitest';
import { readFlags } from '../../options/readFlags.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { SHARED_FLAGS } from '../contract/flags.ts';
import { keepersOf } from '../contract/keepers.ts';
import { allComponents } from './components/components.ts';
import { deployedByFlags, KEPT_TYPES } from './decide/keepers.ts';
import { CONNECTIVITY_FLAGS, deploymentOptions } from './flags.ts';
import { createPass, type PassOptions } from './passes.ts';

const FLAGS = { ...SHARED_FLAGS, ...CONNECTIVITY_FLAGS };

it('reports what an earlier version has deployed and no stack keeps, by the flag for the stack default', async () => {
  expect(await reported(false)).toEqual([
    'NotKept: the type ConnectivityServer',
    'NotKept: the type ConnectivityAgents',
  ]);
  expect(await reported(true)).toEqual([]);
});

/** The problems of a reconcile while the objects of the check exist, and no TrafficStack does. */
async function reported(hasDefaultStack: boolean): Promise<string[]> {
  const args = ['--connectivity', '--connectivity-image=operator', `--default-stack=${hasDefaultStack}`];
  const options = deploymentOptions(readFlags({ name: 'manager', flags: FLAGS }, args, {}));
  const problems: Problem[] = [];
  const pass = createPass({
    ...{ client: {}, options, logger: createLogger('silent') },
    caches: {
      informers: [],
      live: ({ object }: { object: object }) => object,
      // So nothing is written.
      unknownGroups: () => new Set(['agentsNamespace', 'serverCa']),
      refusals: () => [],
    },
    stacks: {
      settled: true,
      refusals: () => [],
      keepers: () => keepersOf(KEPT_TYPES, [], allComponents(options), deployedByFlags(options)),
    },
    report: { update: (_: string, found: readonly Problem[]) => void problems.push(...found) },
  } as unknown as PassOptions);
  await pass();
  return problems.map(({ reason, object }) => `${reason}: ${object}`);
}
