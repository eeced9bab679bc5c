import { SHARED_FLAGS, sharedFlagProblem, type SharedFlags } from '../../controllers/contract/flags.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { joinTables, type FlagCheck } from '../../options/flagTable.ts';

/**
 * The manager's flags: those that belong to no controller, and those of the controllers, whose types they alone know.
 *
 * @throws Error when two of them have a flag of the same name
 */
export function managerFlags(controllers: readonly ControllerModule[]): typeof SHARED_FLAGS {
  return joinTables(SHARED_FLAGS, ...controllers.map(({ flags }) => flags)) as typeof SHARED_FLAGS;
}

/** Finds the first combination of flags that cannot be meant. */
export function managerFlagProblem(controllers: readonly ControllerModule[]): FlagCheck<SharedFlags> {
  return (flags) =>
    sharedFlagProblem(flags) ??
    controllers.map((module) => module.flagProblem?.(flags)).find((problem) => problem !== undefined);
}
