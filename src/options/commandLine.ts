import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from '../runtime/process/usageError.ts';
import { boolean } from './values.ts';
import { flagName, variableName, type Flag, type FlagTable } from './flagTable.ts';

/** One value of a flag, as text. */
export interface Given {
  text: string;
  /** For messages: '--interval=10s', 'TRAFFIC_OPERATOR_INTERVAL=10s'. Secrets are redacted. */
  shown: string;
}

/** The values of each flag that was given, in their order. A flag that is not a list has one value. */
export type GivenFlags = Partial<Record<string, readonly Given[]>>;

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
export function readArguments(command: string, table: FlagTable, args: readonly string[]): GivenFlags {
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
export function readVariables(table: FlagTable, env: Readonly<Record<string, string | undefined>>): GivenFlags {
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
