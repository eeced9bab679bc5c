import manifest from '../package.json' with { type: 'json' };
import { flagsOf, loadCommand } from './commands/commands.ts';
import { commandHelp, programHelp, readInvocation } from './commands/invocation.ts';
import { createLogger, cutCredentials } from './runtime/process/logger.ts';
import { shutdownSignal } from './runtime/process/shutdown.ts';
import { UsageError } from './runtime/process/usageError.ts';

/** Exit codes: success; the command failed; wrong flags, variables or arguments. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs the command of the command line.
 *
 * @returns the exit code
 */
export async function main(): Promise<number> {
  try {
    const invocation = readInvocation(process.argv.slice(2));
    if (invocation.kind === 'run') return await run(invocation.command, invocation.args);
    process.stdout.write(invocation.kind === 'help' ? await helpText(invocation.command) : `${manifest.version}\n`);
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`traffic-operator: ${cutCredentials(error.message)}\n`);
      return WRONG_USAGE;
    }
    throw error;
  }
}

async function helpText(name: string | undefined): Promise<string> {
  return name === undefined ? programHelp() : commandHelp(name, await flagsOf(name));
}

async function run(name: string, args: readonly string[]): Promise<number> {
  const command = (await loadCommand(name)).prepare(args, process.env);
  const logger = createLogger(command.logLevel);
  const signal = shutdownSignal({ signals: process, exit: (code) => process.exit(code), logger });
  logger.info({ command: name, version: manifest.version, node: process.version }, 'starting');
  try {
    await command.run({ env: process.env, logger, signal });
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
