import { entryOf, COMMANDS } from './commands.ts';
import { defaultText, flagName, variableName, type Flag, type FlagTable } from '../options/flagTable.ts';

/** The request of a command line. */
type Invocation =
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

/** The `--help` text of the program. */
export function programHelp(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    'Keeps Kubernetes workloads off nodes whose network is full.',
    '',
    'Usage: traffic-operator [command] [flags]',
    '',
    'Commands:',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Flags of a command: traffic-operator <command> --help. Version: traffic-operator version.',
    '',
  ].join('\n');
}

/**
 * The `--help` text of one command.
 *
 * @throws UsageError if the command does not exist
 */
export function commandHelp(name: string, flags: FlagTable): string {
  return [
    entryOf(name).summary,
    '',
    `Usage: traffic-operator ${name} [flags]`,
    '',
    ...Object.entries(flags).flatMap(([key, flag]) => flagHelp(key, flag)),
    `Each flag can also be set by an environment variable, such as ${variableName('logLevel')} for --${flagName('logLevel')}.`,
    'The flag takes precedence. A variable of a repeatable flag has one value a line.',
    '',
  ].join('\n');
}

function flagHelp(key: string, flag: Flag): string[] {
  const { type, description, isList } = flag;
  const repeated = isList === true ? ' (may be repeated)' : '';
  const standard = defaultText(flag);
  const lines = [`  --${flagName(key)} <${type.placeholder}>${repeated}`, `      ${description}`];
  return standard === '' ? [...lines, ''] : [...lines, `      Default: ${standard}`, ''];
}
