import * as z from 'zod';
import { combinationProblem, type Problem } from './options/combinations.ts';
import { readArguments, readVariables, type Given, type GivenFlags } from './options/commandLine.ts';
import { COMMANDS, flagName, flagOf, KEYS, type Command, type FlagKey, type Flags } from './options/flags.ts';
import { UsageError } from './runtime/process/usageError.ts';

export { COMMANDS, FLAGS, flagName, flagOf, flagsOf, variableName } from './options/flags.ts';
export type { Command, Flag, FlagKey, Flags } from './options/flags.ts';
export { defaultText, helpText } from './options/help.ts';

/** Commands of this version. */
export type RunnableCommand = 'manager' | 'cleanup';

/** What was asked for on the command line. */
export type Invocation =
  | { kind: 'run'; command: RunnableCommand; flags: Flags }
  | { kind: 'help'; command: Command | undefined }
  | { kind: 'version' };

/**
 * Reads the command line and the environment; the command line wins. Without a command, `manager` is meant, as in
 * PKopel/traffic-operator, whose image has no other.
 *
 * @param args without the program and its script
 * @throws UsageError naming what is wrong, its value and what is allowed
 */
export function readInvocation(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Invocation {
  const [first] = args;
  const isNamed = first !== undefined && !first.startsWith('-');
  const rest = isNamed ? args.slice(1) : args;
  const command = isNamed ? commandNamed(first) : undefined;
  if (first === 'help' || rest.some((arg) => /^--?(h|help)$/.test(arg))) {
    return { kind: 'help', command };
  }
  if (first === 'version' || rest.some((arg) => /^--?version$/.test(arg))) {
    return { kind: 'version' };
  }
  const runnable = runnableOf(command ?? 'manager');
  return { kind: 'run', command: runnable, flags: readFlags(runnable, rest, env) };
}

function commandNamed(name: string): Command | undefined {
  const command = COMMANDS.find((known) => known === name);
  if (command === undefined && name !== 'help' && name !== 'version') {
    throw new UsageError(`${name}: unknown command; must be one of ${COMMANDS.join(', ')}`);
  }
  return command;
}

function runnableOf(command: Command): RunnableCommand {
  if (command !== 'manager' && command !== 'cleanup') {
    throw new UsageError(`${command}: not available in this version`);
  }
  return command;
}

function readFlags(
  command: RunnableCommand,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Flags {
  const given = { ...readVariables(command, env), ...readArguments(command, args) };
  const parsed = SCHEMA.safeParse(textsOf(given));
  if (!parsed.success) {
    throw problemOf(parsed.error.issues[0], given);
  }
  const flags = parsed.data as Flags;
  const problem = command === 'manager' ? combinationProblem(flags) : undefined;
  if (problem !== undefined) {
    throw new UsageError(`${shown(problem, given)}: ${problem.message}`);
  }
  return flags;
}

/** The table as a schema over the texts that were given. A command sees the others' flags with their defaults. */
const SCHEMA = z.object(
  Object.fromEntries(
    KEYS.map((key) => {
      const { type, isList } = flagOf(key);
      return [key, isList === true ? z.array(type.schema) : type.schema.optional()];
    }),
  ),
);

function textsOf(given: GivenFlags): Partial<Record<FlagKey, string | string[]>> {
  const entries = KEYS.map((key): [FlagKey, string | string[] | undefined] => {
    const { default: standard, isList } = flagOf(key);
    const texts = given[key]?.map(({ text }) => text) ?? [];
    // An empty text for what need not be there is how a template says that it is not there.
    const isAbsent = standard === undefined && texts.at(-1) === '';
    return [key, isList === true ? texts : isAbsent ? undefined : (texts.at(-1) ?? standard)];
  });
  return Object.fromEntries(entries);
}

function problemOf(issue: z.core.$ZodIssue | undefined, given: GivenFlags): UsageError {
  const [key, index] = issue?.path ?? [];
  const texts = given[key as FlagKey] ?? [];
  const wrong: Given | undefined = typeof index === 'number' ? texts[index] : texts.at(-1);
  return new UsageError(`${wrong?.shown ?? `--${flagName(key as FlagKey)}`}: ${issue?.message ?? 'wrong'}`);
}

function shown({ key }: Problem, given: GivenFlags): string {
  return given[key]?.at(-1)?.shown ?? `--${flagName(key)}`;
}
