import type { CommonFlags } from '../options/commonFlags.ts';
import type { FlagTable, FlagValues } from '../options/flagTable.ts';
import { readFlags, type FlagSource } from '../options/readFlags.ts';
import type { Logger } from '../runtime/process/logger.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The values that a command receives in addition to its flags. */
export interface CommandContext {
  readonly env: Environment;
  readonly logger: Logger;
  /** Aborted when the process must end, for example at SIGTERM. */
  readonly signal: AbortSignal;
}

/** A command with its flags and its code. */
export interface CommandDefinition<T extends FlagTable> extends FlagSource<T> {
  /** The lowest level that is logged, if it does not follow from --log-level alone. */
  logLevel?(flags: FlagValues<T>): CommonFlags['logLevel'];
  /** Runs until done, or until the signal is aborted. Throws UsageError for wrong flags or files that they name. */
  run(flags: FlagValues<T>, context: CommandContext): Promise<void>;
}

/** A command with parsed flags, ready to run. */
export interface PreparedCommand {
  readonly logLevel: CommonFlags['logLevel'];
  run(context: CommandContext): Promise<void>;
}

/** A command, independent of the type of its flags. */
export interface Command {
  readonly name: string;
  readonly flags: FlagTable;
  /** @throws UsageError with the flag, its value and what is allowed */
  prepare(args: readonly string[], env: Environment): PreparedCommand;
}

/** Creates a command from its definition. Only this function knows the type of the flags. */
export function defineCommand<T extends FlagTable>(
  definition: FlagValues<T> extends Pick<CommonFlags, 'logLevel'> ? CommandDefinition<T> : never,
): Command {
  const { name, flags } = definition;
  return {
    name,
    flags,
    prepare(args, env) {
      const values = readFlags(definition, args, env);
      return {
        logLevel: definition.logLevel?.(values) ?? (values.logLevel as CommonFlags['logLevel']),
        run: (context) => definition.run(values, context),
      };
    },
  };
}
