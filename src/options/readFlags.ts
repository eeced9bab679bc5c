import * as z from 'zod';
import { UsageError } from '../runtime/process/usageError.ts';
import { readArguments, readVariables, type Given, type GivenFlags } from './commandLine.ts';
import { flagName, type FlagCheck, type FlagTable, type FlagValues } from './flagTable.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A command as far as its flags go. */
export interface FlagSource<T extends FlagTable> {
  /** For messages. */
  readonly name: string;
  readonly flags: T;
  /** Finds what is wrong with flags that are right each by itself. */
  readonly check?: FlagCheck<FlagValues<T>> | undefined;
}

/**
 * Reads a command's flags from the command line and the environment; the command line wins.
 *
 * @param args without the program and the command
 * @throws UsageError naming what is wrong, its value and what is allowed
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

/** The table as a schema over the texts that were given. */
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
    // An empty text for what need not be there is how a template says that it is not there.
    const isAbsent = standard === undefined && texts.at(-1) === '';
    return [key, isList === true ? texts : isAbsent ? undefined : (texts.at(-1) ?? standard)] as const;
  });
  return Object.fromEntries(entries);
}

function problemOf(issue: z.core.$ZodIssue | undefined, given: GivenFlags): UsageError {
  const [key, index] = issue?.path ?? [];
  const texts = given[String(key)] ?? [];
  const wrong: Given | undefined = typeof index === 'number' ? texts[index] : texts.at(-1);
  return new UsageError(`${wrong?.shown ?? `--${flagName(String(key))}`}: ${issue?.message ?? 'wrong'}`);
}

function shown(key: string, given: GivenFlags): string {
  return given[key]?.at(-1)?.shown ?? `--${flagName(key)}`;
}
