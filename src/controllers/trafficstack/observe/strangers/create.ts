import { createBoundedInformer } from '../../../../runtime/cache/bodyBudget.ts';
import type { ControllerContext } from '../../../contract/context.ts';
import { Strangers } from './strangers.ts';
import { nameOf } from './trim.ts';

/**
 * Each watch is renewed when it ends, which is a request. There may be hundreds of them, so they last for half an hour to an hour: 500 are a
 * request in 5 s.
 */
const LEAST_WATCH_S = 1_800;

/** @param onChange called for a stack that has looked at what has changed */
export function createStrangers(
  { client, transport, logger, metrics, clock, isLeader }: ControllerContext,
  onChange: (stack: string) => void,
): Strangers {
  // The number of cached objects of a kind is that of the cache of all stacks.
  const reflector = { ...metrics.reflector, objects: () => undefined };
  return new Strangers({
    ...{ client, clock, isLeader, onChange },
    create: (selection) =>
      createBoundedInformer(
        { ...selection, transport, logger, metrics: reflector, leastWatchSeconds: LEAST_WATCH_S },
        nameOf,
      ),
  });
}
