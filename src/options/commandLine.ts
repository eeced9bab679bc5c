import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from '../runtime/process/usageError.ts';
import { boolean } from './values.ts';
import { flagName, variableName, type Flag, type FlagTable } from './flagTable.ts';

/** One text that was given, and where. */
export interface Given {
  text: string;
  /** As messages show it: '--interval=10s', 'TRAFFIC_OPERATOR_INTERVAL=10s'; without what may be a secret. */
  shown: string;
}

/** The texts given for each flag; a flag that may come once has one. */
export type GivenFlags = Partial<Record<string, readonly Given[]>>;

/** A flag of a table, and its key there. */
interface Named {
  readonly key: string;
  readonly flag: Flag;
}

/**
 * Reads a command's arguments as Go's flag package does: one dash or two, `--flag=value` or `--flag value`, booleans
 * only with `=`, and of a flag given several times the last one.
 *
 * @param command for messages
 * @throws UsageError for an unknown flag, one without its value, and anything that is no flag
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
      throw new UsageError(`${token.value}: ${command} takes no arguments but flags`);
    }
    if (token.kind === 'option') {
      const named = flags.get(token.name);
      if (named === undefined) {
        throw new UsageError(`--${token.name}: unknown flag; \`${command} --help\` lists those there are`);
      }
      add(given, named, token.value ?? (isBoolean(named.flag) ? 'true' : undefined));
    }
  }
  return given;
}

/** Reads a command's environment variables. One that is empty counts as not given. */
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
 * Puts a second dash before long flags that have one, and a flag and its value into one argument, so that a value that
 * begins with a dash is not taken for a flag.
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
