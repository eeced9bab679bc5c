import type { CommonFlags } from '../options/commonFlags.ts';
import type { FlagTable, FlagValues } from '../options/flagTable.ts';
import { readFlags, type FlagSource } from '../options/readFlags.ts';
import type { Logger } from '../runtime/process/logger.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a command gets beside its flags. */
export interface CommandContext {
  readonly env: Environment;
  readonly logger: Logger;
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
}

/** A command, its own flags and what it does. */
export interface CommandDefinition<T extends FlagTable> extends FlagSource<T> {
  /** Runs until done, or until the signal is aborted. Throws UsageError for what was asked for wrongly. */
  run(flags: FlagValues<T>, context: CommandContext): Promise<void>;
}

/** A command whose flags were read. */
export interface PreparedCommand {
  readonly logLevel: CommonFlags['logLevel'];
  run(context: CommandContext): Promise<void>;
}

/** A command, whatever its flags are. */
export interface Command {
  readonly name: string;
  readonly flags: FlagTable;
  /** @throws UsageError naming what is wrong, its value and what is allowed */
  prepare(args: readonly string[], env: Environment): PreparedCommand;
}

/** Makes a command of its definition: which flags are its own is known here alone. */
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
        logLevel: values.logLevel as CommonFlags['logLevel'],
        run: (context) => definition.run(values, context),
      };
    },
  };
}
