import { Counter, Gauge, Registry } from 'prom-client';
import { managerOf } from '../../src/commands/manager/command.ts';
import { COMMANDS, flagsOf } from '../../src/commands/commands.ts';
import { registerEvaluationMetrics } from '../../src/connectivity/server/evaluation/evaluationMetrics.ts';
import { REPORT_METRICS } from '../../src/connectivity/server/reports/metrics.ts';
import type { Steps } from '../../src/connectivity/localise/steps.ts';
import { Reports } from '../../src/connectivity/server/reports/reports.ts';
import { registerUrlMetrics } from '../../src/connectivity/server/reports/urlMetrics.ts';
import type { ControllerModule } from '../../src/controllers/contract/module.ts';
import { AGENT_METRICS } from '../../src/connectivity/protocol/agentMetrics.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { createWebhookMetrics } from '../../src/placement/webhook/metrics.ts';
import { defaultText, flagName, variableName, type Flag, type FlagTable } from '../../src/options/flagTable.ts';
import { createMetrics, createRegistry, METRIC_PREFIX } from '../../src/runtime/manager/metrics.ts';
import { systemClock } from '../../src/runtime/process/clock.ts';
import { createUsageMetrics } from '../../src/usage/pass/metrics.ts';
import type { GeneratedFile } from './file.ts';

/** The prefix of the metrics that have the names of k8s-traffic-controller. */
const WEIGHT_PREFIX = 'cluster_traffic_controller_';
const HEADER = '<!-- Generated from the sources by `make generate`. Do not edit. -->\n\n';

/** Tables of all flags and all metrics. */
export async function docs(controllers: readonly ControllerModule[] = CONTROLLERS): Promise<GeneratedFile[]> {
  return [
    { path: 'docs/flags.md', content: HEADER + (await flags(controllers)) },
    { path: 'docs/metrics.md', content: HEADER + (await metrics(controllers)) },
  ];
}

async function flags(controllers: readonly ControllerModule[]): Promise<string> {
  const manager = managerOf(controllers);
  const tables = await Promise.all(
    COMMANDS.map(async ({ name }) => [name, name === manager.name ? manager.flags : await flagsOf(name)] as const),
  );
  return [
    '# Flags',
    'Each flag can also be set by an environment variable; the flag takes precedence. A variable of a repeatable flag has one value a line. Durations, booleans and addresses use the notation of Go: `1m30s`, `true`, `:8081`.',
    ...tables
      .filter(([, table]) => Object.keys(table).length > 0)
      .flatMap(([name, table]) => [`## ${name}`, flagTable(table)]),
    '',
  ].join('\n\n');
}

function flagTable(table: FlagTable): string {
  const rows = Object.entries(table).map(([key, flag]) =>
    row([code(`--${flagName(key)}`), code(variableName(key)), defaultCell(flag), about(flag)]),
  );
  return [row(['Flag', 'Variable', 'Default', 'Description']), '|---|---|---|---|', ...rows].join('\n');
}

function defaultCell(flag: Flag): string {
  return flag.default === undefined ? defaultText(flag) : code(defaultText(flag));
}

function about({ description, type, isList }: Flag): string {
  const times = isList === true ? ' May be repeated.' : '';
  return `${description} Must be ${type.allowed}.${times}`;
}

async function metrics(controllers: readonly ControllerModule[]): Promise<string> {
  const registry = createRegistry();
  createMetrics(registry);
  createUsageMetrics(registry);
  for (const controller of controllers) controller.registerMetrics(registry);
  return [
    '# Metrics',
    'The operator serves these metrics at `/metrics`, in base units: seconds, bytes, ratios from 0 to 1. It also serves the `process_` and `nodejs_` metrics of every Node.js program. The `nodejs_eventloop_lag_` metrics give the delay of the event loop, which is sampled every 50 ms.',
    await metricTable(registry, METRIC_PREFIX),
    'The commands `trafficweights` and `weights` serve the metrics of TrafficWeights above, and these, which have the names of k8s-traffic-controller:',
    await metricTable(registry, WEIGHT_PREFIX),
    '## The connectivity server',
    'The connectivity server serves these metrics at `/metrics` on its port. They include the metrics of k8s-netchecker, whose times are milliseconds. It also serves its own metrics about the API server, HTTP and the process, which have the names above.',
    await metricTable(connectivityRegistry(), ''),
    '## The placement webhook',
    'The command `placement-webhook` serves these metrics with `--metrics-bind-address`. It also serves its own metrics about the API server, watches, HTTP and the process, which have the names above.',
    await metricTable(webhookRegistry(), METRIC_PREFIX),
    '## Connectivity agents',
    'Each agent of the connectivity check serves these at `/metrics` of its peer port. In the deployed Prometheus they have the labels `node` and `plane` (`Pod` or `Host`).',
    agentMetricTable(),
    '',
  ].join('\n\n');
}

function webhookRegistry(): Registry {
  const registry = new Registry();
  createWebhookMetrics(registry);
  return registry;
}

/** The metrics of the connectivity server that the operator does not have. */
function connectivityRegistry(): Registry {
  const registry = createRegistry();
  registry.clear();
  const nothing = {
    evaluated: () => Promise.resolve({ results: new Map(), seconds: 0 }),
    *views(): Steps<[]> {
      yield;
      return [];
    },
    silentAgents: () => undefined,
  };
  // The server writes their text without prom-client.
  for (const { type, labelNames, ...rest } of REPORT_METRICS) {
    const options = { ...rest, labelNames: [...labelNames], registers: [registry] };
    if (type === 'counter') new Counter(options);
    else new Gauge(options);
  }
  registerEvaluationMetrics(registry, nothing, systemClock);
  const checks = { synced: false, refusal: undefined };
  registerUrlMetrics(registry, { checks, reports: new Reports(systemClock), assignedTo: () => [] });
  return registry;
}

async function metricTable(registry: Registry, prefix: string): Promise<string> {
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, type as unknown as string]));
  // prom-client does not export the label names of a metric.
  const all = registry.getMetricsAsArray() as unknown as { name: string; help: string; labelNames: string[] }[];
  const own = all.filter(({ name }) => name.startsWith(prefix)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = own.map(({ name, help, labelNames }) =>
    row([code(name), types.get(name) ?? '', labelNames.map(code).join(', '), help]),
  );
  return [row(['Metric', 'Type', 'Labels', 'Description']), '|---|---|---|---|', ...rows].join('\n');
}

function agentMetricTable(): string {
  const rows = AGENT_METRICS.map(({ name, type, help }) => row([code(name), type, '', help]));
  return [row(['Metric', 'Type', 'Labels', 'Description']), '|---|---|---|---|', ...rows].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
