import * as z from 'zod';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from '../runtime/process/usageError.ts';
import { flagName, type FlagCheck, type FlagTable, type FlagValues, variableName, type Flag } from './flagTable.ts';
import { boolean } from './values.ts';

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

/** One value of a flag, as text. */
interface Given {
  text: string;
  /** For messages: '--interval=10s', 'TRAFFIC_OPERATOR_INTERVAL=10s'. Secrets are redacted. */
  shown: string;
}

/** The values of each flag that was given, in their order. A flag that is not a list has one value. */
type GivenFlags = Partial<Record<string, readonly Given[]>>;

/** A flag of a table with its key. */
interface Named {
  readonly key: string;
  readonly flag: Flag;
}

/**
 * Parses the arguments of a command like Go's flag package: one dash or two, `--flag=value` or `--flag value`. The
 * value of a boolean needs `=`. If a flag that is not a list is given several times, the last value counts.
 *
 * @param command name of the command, for messages
 * @throws UsageError for an unknown flag, a flag without its value, or an argument that is not a flag
 */
function readArguments(command: string, table: FlagTable, args: readonly string[]): GivenFlags {
  const flags = new Map(Object.entries(table).map(([key, flag]): [string, Named] => [flagName(key), { key, flag }]));
  const options: ParseArgsOptionsConfig = Object.fromEntries(
    [...flags].map(([name, { flag }]) => [
      name,
      { type: isBoolean(flag) ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: twoDashes(args, flags),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: GivenFlags = {};
  for (const token of tokens) {
    if (token.kind === 'positional') {
      throw new UsageError(`${token.value}: unexpected argument; ${command} accepts only flags`);
    }
    if (token.kind === 'option') {
      const named = flags.get(token.name);
      if (named === undefined) {
        throw new UsageError(`--${token.name}: unknown flag; \`${command} --help\` lists all flags`);
      }
      add(given, named, token.value ?? (isBoolean(named.flag) ? 'true' : undefined));
    }
  }
  return given;
}

/** Reads the environment variables of a command. An empty variable counts as absent. */
function readVariables(table: FlagTable, env: Readonly<Record<string, string | undefined>>): GivenFlags {
  const given: GivenFlags = {};
  for (const [key, flag] of Object.entries(table)) {
    const name = variableName(key);
    const text = env[name] ?? '';
    const texts = flag.isList === true ? text.split('\n').map((line) => line.trim()) : [text];
    const present = texts.filter((line) => line !== '').map((line) => givenAs(flag, name, line));
    if (present.length > 0) {
      given[key] = present;
    }
  }
  return given;
}

function add(given: GivenFlags, { key, flag }: Named, text: string | undefined): void {
  const name = `--${flagName(key)}`;
  if (text === undefined) {
    throw new UsageError(`${name}: needs a value; must be ${flag.type.allowed}`);
  }
  const before = flag.isList === true ? (given[key] ?? []) : [];
  given[key] = [...before, givenAs(flag, name, text)];
}

function givenAs(flag: Flag, name: string, text: string): Given {
  return { text, shown: `${name}=${flag.type.shown?.(text) ?? text}` };
}

/**
 * Normalizes arguments for parseArgs: gives each flag two dashes, and joins a flag and its value into one argument, so
 * that a value that starts with a dash is not parsed as a flag.
 */
function twoDashes(args: readonly string[], flags: ReadonlyMap<string, Named>): string[] {
  const rest = [...args];
  const result: string[] = [];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const match = /^--?([a-zA-Z][^=]*)(=.*)?$/s.exec(arg);
    const [, name = '', value] = match ?? [];
    const flag = flags.get(name)?.flag;
    if (match === null) {
      result.push(arg);
    } else if (flag !== undefined && !isBoolean(flag) && value === undefined && rest[0] !== undefined) {
      result.push(`--${name}=${rest.shift() ?? ''}`);
    } else {
      result.push(`--${name}${value ?? ''}`);
    }
  }
  return result;
}

function isBoolean({ type }: Flag): boolean {
  return type === boolean;
}
