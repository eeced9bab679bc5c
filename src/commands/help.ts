import { defaultText, flagName, variableName, type Flag, type FlagTable } from '../options/flagTable.ts';
import { COMMANDS, entryOf } from './commands.ts';

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
