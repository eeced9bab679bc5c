import type { ControllerModule } from '../../controllers/contract/module.ts';
import { CONTROLLERS } from '../../controllers/registry.ts';
import { defineCommand, type Command } from '../command.ts';
import { runCleanup } from './cleanup.ts';
import { CLEANUP_FLAGS } from './flags.ts';

/** `cleanup`: removes everything that the operator put on the cluster. */
export const cleanup = cleanupOf(CONTROLLERS);

/** Creates `cleanup` for the given controllers. */
export function cleanupOf(controllers: readonly ControllerModule[]): Command {
  return defineCommand<typeof CLEANUP_FLAGS>({
    name: 'cleanup',
    flags: CLEANUP_FLAGS,
    run: (flags, context) => runCleanup(flags, controllers, context),
  });
}
