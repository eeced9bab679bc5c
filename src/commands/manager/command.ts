import { SHARED_FLAGS, sharedFlagProblem } from '../../controllers/contract/flags.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { CONTROLLERS } from '../../controllers/registry.ts';
import { defineCommand, type Command } from '../command.ts';
import { prepareLongRun } from '../longRunning.ts';
import { runManager } from './manager.ts';
import { managerOptions } from './options.ts';
import { firstProblem, joinTables } from '../../options/flagTable.ts';
import type { FlagSource } from '../../options/readFlags.ts';

/** `manager`: measures the nodes and runs every controller. */
export const manager = managerOf(CONTROLLERS);

/** Creates `manager` for the given controllers. */
export function managerOf(controllers: readonly ControllerModule[]): Command {
  return defineCommand<typeof SHARED_FLAGS>({
    ...managerFlags(controllers),
    run(flags, { env, logger, signal }) {
      prepareLongRun(logger);
      return runManager(managerOptions(flags, env, logger), controllers, signal);
    },
  });
}

/**
 * The flags of the manager: the shared flags and the flags of each controller. Only the controller knows the types of its
 * flags.
 *
 * @throws Error if two flags have the same name
 */
export function managerFlags(controllers: readonly ControllerModule[]): FlagSource<typeof SHARED_FLAGS> {
  const checks = [sharedFlagProblem, ...controllers.flatMap(({ flagProblem }) => flagProblem ?? [])];
  return {
    name: 'manager',
    flags: joinTables(SHARED_FLAGS, ...controllers.map(({ flags }) => flags)) as typeof SHARED_FLAGS,
    check: (flags) => firstProblem(checks, flags),
  };
}
