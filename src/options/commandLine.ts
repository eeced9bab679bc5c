import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from '../runtime/process/usageError.ts';
import { boolean } from './values.ts';
import { flagName, flagOf, flagsOf, variableName, type Command, type FlagKey } from './flags.ts';

/** One text that was given, and where. */
export interface Given {
  text: string;
  /** As messages show it: '--interval=10s', 'TRAFFIC_OPERATOR_INTERVAL=10s'; without what may be a secret. */
  shown: string;
}

/** The texts given for each flag; a flag that may come once has one. */
export type GivenFlags = Partial<Record<FlagKey, readonly Given[]>>;

/**
 * Reads a command's arguments as Go's flag package does: one dash or two, `--flag=value` or `--flag value`, booleans
 * only with `=`, and of a flag given several times the last one.
 *
 * @throws UsageError for an unknown flag, one without its value, and anything that is no flag
 */
export function readArguments(command: Command, args: readonly string[]): GivenFlags {
  const keys = new Map(flagsOf(command).map((key) => [flagName(key), key]));
  const options: ParseArgsOptionsConfig = Object.fromEntries(
    [...keys].map(([name, key]) => [name, { type: isBoolean(key) ? ('boolean' as const) : ('string' as const) }]),
  );
  const { tokens } = parseArgs({
    args: twoDashes(args, keys),
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
      const key = keys.get(token.name);
      if (key === undefined) {
        throw new UsageError(`--${token.name}: unknown flag; \`${command} --help\` lists those there are`);
      }
      add(given, key, token.value ?? (isBoolean(key) ? 'true' : undefined));
    }
  }
  return given;
}

/** Reads a command's environment variables. One that is empty counts as not given. */
export function readVariables(command: Command, env: Readonly<Record<string, string | undefined>>): GivenFlags {
  const given: GivenFlags = {};
  for (const key of flagsOf(command)) {
    const name = variableName(key);
    const text = env[name] ?? '';
    const texts = flagOf(key).isList === true ? text.split('\n').map((line) => line.trim()) : [text];
    const present = texts.filter((line) => line !== '').map((line) => givenAs(key, name, line));
    if (present.length > 0) {
      given[key] = present;
    }
  }
  return given;
}

function add(given: GivenFlags, key: FlagKey, text: string | undefined): void {
  const name = `--${flagName(key)}`;
  if (text === undefined) {
    throw new UsageError(`${name}: needs a value; must be ${flagOf(key).type.allowed}`);
  }
  const before = flagOf(key).isList === true ? (given[key] ?? []) : [];
  given[key] = [...before, givenAs(key, name, text)];
}

function givenAs(key: FlagKey, name: string, text: string): Given {
  return { text, shown: `${name}=${flagOf(key).type.shown?.(text) ?? text}` };
}

/**
 * Puts a second dash before long flags that have one, and a flag and its value into one argument, so that a value that
 * begins with a dash is not taken for a flag.
 */
function twoDashes(args: readonly string[], keys: ReadonlyMap<string, FlagKey>): string[] {
  const rest = [...args];
  const result: string[] = [];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const match = /^--?([a-zA-Z][^=]*)(=.*)?$/s.exec(arg);
    const [, name = '', value] = match ?? [];
    const key = keys.get(name);
    if (match === null) {
      result.push(arg);
    } else if (key !== undefined && !isBoolean(key) && value === undefined && rest[0] !== undefined) {
      result.push(`--${name}=${rest.shift() ?? ''}`);
    } else {
      result.push(`--${name}${value ?? ''}`);
    }
  }
  return result;
}

function isBoolean(key: FlagKey): boolean {
  return flagOf(key).type === boolean;
}
