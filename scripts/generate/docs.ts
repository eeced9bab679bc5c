import type { Registry } from 'prom-client';
import { createMeasurementMetrics } from '../../src/controllers/measurement/metrics.ts';
import { createTrafficWatchMetrics } from '../../src/controllers/trafficwatch/metrics.ts';
import { COMMANDS, flagName, flagOf, flagsOf, variableName, type Command, type FlagKey } from '../../src/options.ts';
import { defaultText } from '../../src/options/help.ts';
import { createMetrics, createRegistry, METRIC_PREFIX } from '../../src/runtime/manager/metrics.ts';
import { createUsageMetrics } from '../../src/usage/pass/metrics.ts';
import type { GeneratedFile } from './file.ts';

const HEADER = '<!-- Generated from the sources by `make generate`. Do not edit. -->\n\n';

/** Tables of what can be set and what can be watched. */
export async function docs(): Promise<GeneratedFile[]> {
  return [
    { path: 'docs/flags.md', content: HEADER + flags() },
    { path: 'docs/metrics.md', content: HEADER + (await metrics()) },
  ];
}

function flags(): string {
  const commands = COMMANDS.filter((command) => flagsOf(command).length > 0);
  return [
    '# Flags',
    'Each flag may be given as an environment variable too; the flag wins. One that may be repeated is one a line in its variable. Durations, truth values and addresses are written as in Go: `1m30s`, `true`, `:8081`.',
    ...commands.flatMap((command) => [`## ${command}`, flagTable(command)]),
    '',
  ].join('\n\n');
}

function flagTable(command: Command): string {
  const rows = flagsOf(command).map((key) =>
    row([flagCell(key), code(variableName(key)), defaultCell(key), about(key)]),
  );
  return [row(['Flag', 'Variable', 'Default', 'What it is']), '|---|---|---|---|', ...rows].join('\n');
}

function flagCell(key: FlagKey): string {
  return code(`--${flagName(key)}`);
}

function defaultCell(key: FlagKey): string {
  return flagOf(key).default === undefined ? defaultText(key) : code(defaultText(key));
}

function about(key: FlagKey): string {
  const { description, type, isList } = flagOf(key);
  const times = isList === true ? ' May be repeated.' : '';
  return `${description} Must be ${type.allowed}.${times}`;
}

async function metrics(): Promise<string> {
  const registry = createRegistry();
  createMetrics(registry);
  createUsageMetrics(registry);
  createMeasurementMetrics(registry);
  createTrafficWatchMetrics(registry);
  return [
    '# Metrics',
    'What the operator tells of itself at `/metrics`, in base units: seconds, bytes, ratios from 0 to 1. Beside these there are the `process_` and `nodejs_` metrics of every Node.js program; `nodejs_eventloop_lag_` ones tell by how much the loop was late, which is looked at every 50 ms.',
    await metricTable(registry),
    '',
  ].join('\n\n');
}

async function metricTable(registry: Registry): Promise<string> {
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, type as unknown as string]));
  // prom-client keeps the names of a metric's labels to itself.
  const all = registry.getMetricsAsArray() as unknown as { name: string; help: string; labelNames: string[] }[];
  const own = all.filter(({ name }) => name.startsWith(METRIC_PREFIX)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = own.map(({ name, help, labelNames }) =>
    row([code(name), types.get(name) ?? '', labelNames.map(code).join(', '), help]),
  );
  return [row(['Metric', 'Type', 'Labels', 'What it is']), '|---|---|---|---|', ...rows].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
