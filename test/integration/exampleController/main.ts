/** The operator with one controller more: the line that it takes. */
import { cleanupOf } from '../../../src/commands/cleanup/command.ts';
import { managerOf } from '../../../src/commands/manager/command.ts';
import { CONTROLLERS } from '../../../src/controllers/registry.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import { shutdownSignal } from '../../../src/runtime/process/shutdown.ts';
import { nodeCount } from './module.ts';

export const WITH_EXAMPLE = [...CONTROLLERS, nodeCount];

if (import.meta.main) {
  const [name, ...args] = process.argv.slice(2);
  const command = (name === 'cleanup' ? cleanupOf : managerOf)(WITH_EXAMPLE).prepare(args, process.env);
  const logger = createLogger(command.logLevel);
  const signal = shutdownSignal({ signals: process, exit: (code) => process.exit(code), logger });
  await command.run({ env: process.env, logger, signal });
  process.exit();
}
