import * as z from 'zod';
import { UsageError } from '../runtime/process/usageError.ts';
import { readArguments, readVariables, type Given, type GivenFlags } from './commandLine.ts';
import { flagName, type FlagCheck, type FlagTable, type FlagValues } from './flagTable.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The flags of a command. */
export interface FlagSource<T extends FlagTable> {
  /** Name of the command, for messages. */
  readonly name: string;
  readonly flags: T;
  /** Checks the combination of flags. */
  readonly check?: FlagCheck<FlagValues<T>> | undefined;
}

/**
 * Reads the flags of a command from the command line and the environment. The command line takes precedence.
 *
 * @param args without the program and the command
 * @throws UsageError with the flag or variable, its value and what is allowed
 */
export function readFlags<T extends FlagTable>(
  { name, flags, check }: FlagSource<T>,
  args: readonly string[],
  env: Environment,
): FlagValues<T> {
  const given = { ...readVariables(flags, env), ...readArguments(name, flags, args) };
  const parsed = schemaOf(flags).safeParse(textsOf(flags, given));
  if (!parsed.success) {
    throw problemOf(parsed.error.issues[0], given);
  }
  const values = parsed.data as FlagValues<T>;
  const problem = check?.(values);
  if (problem !== undefined) {
    throw new UsageError(`${shown(problem.key, given)}: ${problem.message}`);
  }
  return values;
}

/** Returns the schema that parses the given texts of the flags. */
function schemaOf(flags: FlagTable): z.ZodType {
  return z.object(
    Object.fromEntries(
      Object.entries(flags).map(([key, { type, isList }]) => [
        key,
        isList === true ? z.array(type.schema) : type.schema.optional(),
      ]),
    ),
  );
}

function textsOf(flags: FlagTable, given: GivenFlags): Record<string, string | string[] | undefined> {
  const entries = Object.entries(flags).map(([key, { default: standard, isList }]) => {
    const texts = given[key]?.map(({ text }) => text) ?? [];
    // An empty text for an optional flag counts as absent: templates write it for an unset value.
    const isAbsent = standard === undefined && texts.at(-1) === '';
    return [key, isList === true ? texts : isAbsent ? undefined : (texts.at(-1) ?? standard)] as const;
  });
  return Object.fromEntries(entries);
}

function problemOf(issue: z.core.$ZodIssue | undefined, given: GivenFlags): UsageError {
  const [key, index] = issue?.path ?? [];
  const texts = given[String(key)] ?? [];
  const wrong: Given | undefined = typeof index === 'number' ? texts[index] : texts.at(-1);
  return new UsageError(`${wrong?.shown ?? `--${flagName(String(key))}`}: ${issue?.message ?? 'invalid'}`);
}

function shown(key: string, given: GivenFlags): string {
  return given[key]?.at(-1)?.shown ?? `--${flagName(key)}`;
}
