import { SHARED_FLAGS, sharedFlagProblem } from '../../controllers/contract/flags.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { firstProblem, joinTables } from '../../options/flagTable.ts';
import type { FlagSource } from '../../options/readFlags.ts';

/**
 * The flags of the manager: the shared flags and those of each controller. Only the controller knows the types of its
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
