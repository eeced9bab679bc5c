import type { ValueType } from './values.ts';

/** One flag, and the environment variable of the same meaning. */
export interface Flag<T = unknown> {
  /** What its text may be, and what becomes of it. */
  readonly type: ValueType<T>;
  /** As written on the command line; absent when the flag has no fixed default. */
  readonly default?: string;
  /** Describes the default if it depends on other flags. */
  readonly defaultNote?: string;
  /** May be repeated; the variable has one value a line. */
  readonly isList?: boolean;
  /** One sentence. */
  readonly description: string;
}

/**
 * The flags of a command or of a controller, in the order of `--help`. The name of a flag is its key in kebab case. The
 * command line, the variables, `--help` and docs/flags.md all come from these tables.
 */
export type FlagTable = Readonly<Record<string, Flag>>;

/** The type of a flag's parsed value. */
type ValueOf<F> = F extends { type: ValueType<infer T>; isList: true }
  ? readonly T[]
  : F extends { type: ValueType<infer T>; default: string }
    ? T
    : F extends { type: ValueType<infer T> }
      ? T | undefined
      : never;

/** The values of a table's flags; durations in milliseconds. */
export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: ValueOf<T[K]> };

type Rest<T> = Omit<Partial<Flag<T>>, 'type' | 'description' | 'default' | 'isList'>;

/** A flag that need not be given. */
export function flag<T>(type: ValueType<T>, description: string, rest: Rest<T> = {}) {
  return { ...rest, type, description };
}

/** A flag that always has a value. */
export function withDefault<T>(type: ValueType<T>, standard: string, description: string) {
  return { type, description, default: standard };
}

/** A flag that may be given several times. */
export function list<T>(type: ValueType<T>, description: string) {
  return { type, description, isList: true as const };
}

/** 'healthProbeBindAddress' -> 'health-probe-bind-address' */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** 'healthProbeBindAddress' -> 'TRAFFIC_OPERATOR_HEALTH_PROBE_BIND_ADDRESS' */
export function variableName(key: string): string {
  return `TRAFFIC_OPERATOR_${flagName(key).replaceAll('-', '_').toUpperCase()}`;
}

/** What is wrong with flags that are right each by itself. */
export interface FlagProblem<K extends string = string> {
  /** The flag to name. */
  readonly key: K;
  readonly message: string;
}

/** A check of flags together; undefined when nothing is wrong. */
export type FlagCheck<V> = (values: V) => FlagProblem<string & keyof V> | undefined;

/** The first problem that a check finds; later checks are not asked. */
export function firstProblem<V>(checks: readonly FlagCheck<V>[], values: V): ReturnType<FlagCheck<V>> {
  for (const check of checks) {
    const problem = check(values);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The default for people to read; '' if there is none. */
export function defaultText({ default: standard, defaultNote }: Flag): string {
  return standard ?? defaultNote ?? '';
}

/**
 * One table of several, in their order.
 *
 * @throws Error when two of them have a flag of the same name
 */
export function joinTables(...tables: readonly FlagTable[]): FlagTable {
  const joined: Record<string, Flag> = {};
  for (const [key, one] of tables.flatMap((table) => Object.entries(table))) {
    if (joined[key] !== undefined) throw new Error(`two tables have a flag --${flagName(key)}`);
    joined[key] = one;
  }
  return joined;
}
