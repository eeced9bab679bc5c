import type { ValueType } from './values.ts';

/** A flag and its environment variable. */
export interface Flag<T = unknown> {
  /** Parses and validates the text. */
  readonly type: ValueType<T>;
  /** As text, like on the command line. Absent if the flag has no fixed default. */
  readonly default?: string;
  /** Describes the default if it depends on other flags. */
  readonly defaultNote?: string;
  /** True if the flag may be repeated. Its variable has one value per line. */
  readonly isList?: boolean;
  /** One sentence. */
  readonly description: string;
}

/**
 * The flags of a command or of a controller, in the order of `--help`. The name of a flag is its key in kebab case.
 * These tables are the source of the command line, the variables, `--help` and docs/flags.md.
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

/** The values of the flags of a table. Durations are in milliseconds. */
export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: ValueOf<T[K]> };

type Rest<T> = Omit<Partial<Flag<T>>, 'type' | 'description' | 'default' | 'isList'>;

/** Defines an optional flag. */
export function flag<T>(type: ValueType<T>, description: string, rest: Rest<T> = {}) {
  return { ...rest, type, description };
}

/** Defines a flag with a default. */
export function withDefault<T>(type: ValueType<T>, standard: string, description: string) {
  return { type, description, default: standard };
}

/** Defines a flag that may be repeated. */
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

/** An invalid combination of flags that are valid individually. */
export interface FlagProblem<K extends string = string> {
  /** The flag to name in the message. */
  readonly key: K;
  readonly message: string;
}

/** Checks a combination of flags. Returns undefined if it is valid. */
export type FlagCheck<V> = (values: V) => FlagProblem<string & keyof V> | undefined;

/** Runs the checks in order until one finds a problem. */
export function firstProblem<V>(checks: readonly FlagCheck<V>[], values: V): ReturnType<FlagCheck<V>> {
  for (const check of checks) {
    const problem = check(values);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The default for `--help` and docs/flags.md; '' if there is none. */
export function defaultText({ default: standard, defaultNote }: Flag): string {
  return standard ?? defaultNote ?? '';
}

/**
 * Joins tables, in their order.
 *
 * @throws Error if two flags have the same name
 */
export function joinTables(...tables: readonly FlagTable[]): FlagTable {
  const joined: Record<string, Flag> = {};
  for (const [key, one] of tables.flatMap((table) => Object.entries(table))) {
    if (joined[key] !== undefined) throw new Error(`two flag tables define --${flagName(key)}`);
    joined[key] = one;
  }
  return joined;
}
