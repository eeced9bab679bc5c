import { SHARED_FLAGS, sharedFlagProblem } from '../../controllers/contract/flags.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { firstProblem, joinTables } from '../../options/flagTable.ts';
import type { FlagSource } from '../../options/readFlags.ts';

/**
 * The manager as far as its flags go: those that belong to no controller, and those of the controllers, whose types they
 * alone know.
 *
 * @throws Error when two of them have a flag of the same name
 */
export function managerFlags(controllers: readonly ControllerModule[]): FlagSource<typeof SHARED_FLAGS> {
  const checks = [sharedFlagProblem, ...controllers.flatMap(({ flagProblem }) => flagProblem ?? [])];
  return {
    name: 'manager',
    flags: joinTables(SHARED_FLAGS, ...controllers.map(({ flags }) => flags)) as typeof SHARED_FLAGS,
    check: (flags) => firstProblem(checks, flags),
  };
}
