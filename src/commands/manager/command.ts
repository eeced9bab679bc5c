import type { SHARED_FLAGS } from '../../controllers/contract/flags.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { CONTROLLERS } from '../../controllers/registry.ts';
import { defineCommand, type Command } from '../command.ts';
import { prepareLongRun } from '../longRunning.ts';
import { managerFlags } from './flags.ts';
import { runManager } from './manager.ts';
import { managerOptions } from './managerOptions.ts';

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
