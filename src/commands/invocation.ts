import { entryOf } from './commands.ts';

/** What the command line requests. */
export type Invocation =
  /** `args` are the arguments of the command. */
  | { kind: 'run'; command: string; args: readonly string[] }
  /** Help for one command, or for the program if `command` is undefined. */
  | { kind: 'help'; command: string | undefined }
  | { kind: 'version' };

/** The command if none is given. PKopel/traffic-operator, which this program replaces, has no sub-commands. */
const DEFAULT_COMMAND = 'manager';

/**
 * Parses the command of the command line.
 *
 * @param args without the program and its script
 * @throws UsageError for an unknown command
 */
export function readInvocation(args: readonly string[]): Invocation {
  const [first] = args;
  const isNamed = first !== undefined && !first.startsWith('-');
  const rest = isNamed ? args.slice(1) : args;
  const command = isNamed && first !== 'help' && first !== 'version' ? entryOf(first).name : undefined;
  if (first === 'help' || rest.some((arg) => /^--?(h|help)$/.test(arg))) {
    return { kind: 'help', command };
  }
  if (first === 'version' || rest.some((arg) => /^--?version$/.test(arg))) {
    return { kind: 'version' };
  }
  return { kind: 'run', command: command ?? DEFAULT_COMMAND, args: rest };
}
