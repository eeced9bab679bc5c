import { entryOf } from './commands.ts';

/** What was asked for on the command line. */
export type Invocation =
  /** `args` are those of the command. */
  | { kind: 'run'; command: string; args: readonly string[] }
  /** Of one command, or of the program. */
  | { kind: 'help'; command: string | undefined }
  | { kind: 'version' };

/** Meant where no command is named, as in PKopel/traffic-operator, whose image has no other. */
const DEFAULT_COMMAND = 'manager';

/**
 * Reads which command was asked for.
 *
 * @param args without the program and its script
 * @throws UsageError for a command that there is not
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
