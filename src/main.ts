// Before all else.
import './requireNode.ts';
import { config as rxjs } from 'rxjs';
import manifest from '../package.json' with { type: 'json' };
import { runCleanup } from './cleanup.ts';
import { runManager } from './manager.ts';
import { managerOptions } from './managerOptions.ts';
import { helpText, readInvocation, type Flags, type RunnableCommand } from './options.ts';
import { createLogger, cutCredentials, type Logger } from './runtime/process/logger.ts';
import { wakeMemoryReducer } from './runtime/process/memoryReducer.ts';
import { shutdownSignal } from './runtime/process/shutdown.ts';
import { UsageError } from './runtime/process/usageError.ts';

/** Exit codes: what was asked for is done; it could not be done; it was asked for wrongly. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Runs until done or until `signal` is aborted. */
type Run = (flags: Flags, logger: Logger, signal: AbortSignal) => Promise<void>;

const RUN: Readonly<Record<RunnableCommand, Run>> = {
  manager: (flags, logger, signal) => runManager(managerOptions(flags, process.env, logger), signal),
  cleanup: runCleanup,
};

process.exit(await main());

/** @returns the exit code */
async function main(): Promise<number> {
  try {
    const invocation = readInvocation(process.argv.slice(2), process.env);
    if (invocation.kind !== 'run') {
      process.stdout.write(invocation.kind === 'help' ? helpText(invocation.command) : `${manifest.version}\n`);
      return DONE;
    }
    return await run(invocation.command, invocation.flags);
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`traffic-operator: ${cutCredentials(error.message)}\n`);
      return WRONG_USAGE;
    }
    throw error;
  }
}

async function run(command: RunnableCommand, flags: Flags): Promise<number> {
  const logger = createLogger(flags.logLevel);
  const signal = shutdownSignal({ signals: process, exit: (code) => process.exit(code), logger });
  // What a subscriber throws would otherwise be thrown again from a timer, and end the process.
  rxjs.onUnhandledError = (error: unknown) => logger.error({ err: error }, 'a subscriber failed');
  wakeMemoryReducer();
  logger.info({ command, version: manifest.version, node: process.version }, 'starting');
  try {
    await RUN[command](flags, logger, signal);
    logger.info('stopped');
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      throw error;
    }
    logger.fatal({ err: error }, 'failed');
    return FAILED;
  }
}
