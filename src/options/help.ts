import { COMMANDS, flagName, flagOf, flagsOf, variableName, type Command, type FlagKey } from './flags.ts';

const SUMMARIES: Readonly<Record<Command, string>> = {
  manager: 'Measure the nodes, label them, and keep the Deployments of TrafficWatches (the default).',
  cleanup: 'Take every label and finalizer of the operator off, before it is uninstalled.',
  'connectivity-server': 'Not available in this version.',
  'connectivity-agent': 'Not available in this version.',
};

/** The text of `--help`: of one command with its flags, or of the program with its commands. */
export function helpText(command: Command | undefined): string {
  return command === undefined ? programHelp() : commandHelp(command);
}

function programHelp(): string {
  const width = Math.max(...COMMANDS.map((command) => command.length));
  return [
    'Keeps Kubernetes workloads off nodes whose network is full.',
    '',
    'Usage: traffic-operator [command] [flags]',
    '',
    'Commands:',
    ...COMMANDS.map((command) => `  ${command.padEnd(width)}  ${SUMMARIES[command]}`),
    '',
    'Flags of a command: traffic-operator <command> --help. Version: traffic-operator version.',
    '',
  ].join('\n');
}

function commandHelp(command: Command): string {
  return [
    SUMMARIES[command],
    '',
    `Usage: traffic-operator ${command} [flags]`,
    '',
    ...flagsOf(command).flatMap(flagHelp),
    `Each flag may also be given as an environment variable: ${variableName('logLevel')} for --${flagName('logLevel')}.`,
    'The flag wins. A flag that may be repeated is one a line in its variable.',
    '',
  ].join('\n');
}

function flagHelp(key: FlagKey): string[] {
  const { type, description, isList } = flagOf(key);
  const repeated = isList === true ? ' (may be repeated)' : '';
  const standard = defaultText(key);
  const lines = [`  --${flagName(key)} <${type.placeholder}>${repeated}`, `      ${description}`];
  return standard === '' ? [...lines, ''] : [...lines, `      Default: ${standard}`, ''];
}

/** The default as people read it; '' where there is none. */
export function defaultText(key: FlagKey): string {
  const { default: standard, defaultNote } = flagOf(key);
  return standard ?? defaultNote ?? '';
}
