import type { ProbeResult, Report } from '../../../api/agent/report.ts';
import type { SeriesBudget } from '../../../runtime/manager/seriesBudget.ts';
import { PING_PATH } from '../../protocol/ping.ts';
import { agentLabel } from '../../protocol/report.ts';
import { commonUrls, type AssignedUrls, type UrlResults } from './urlMetrics.ts';
import { inParts } from './inParts.ts';
import type { AgentState, Reports } from './reports.ts';

/** A metric of the original server, without values. */
interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labelNames: readonly string[];
}

const REPORT_COUNT: Family = {
  name: 'ncagent_report_count_total',
  type: 'counter',
  help: 'Total number of reports (keepalive messages) from the agent.',
  labelNames: ['agent'],
};
const ERROR_COUNT: Family = {
  name: 'ncagent_error_count_total',
  type: 'counter',
  help: 'Total number of errors (keepalive miss count) for the agent.',
  labelNames: ['agent'],
};

/** The probe figures of the original server, by the end of the metric's name. */
const PROBES: readonly (readonly [name: string, help: string, of: keyof ProbeResult])[] = [
  ['connection_result', 'Connection result: 0 - error, 1 - success', 'ConnectionResult'],
  ['code', 'HTTP status code.', 'HTTPCode'],
  ['total_time_ms', 'The total duration of http request.', 'Total'],
  [
    'content_transfer_time_ms',
    'The duration of content transfer, from the first response byte till the end (in ms).',
    'ContentTransfer',
  ],
  ['tcp_connection_time_ms', 'TCP establishing time in ms.', 'TCPConnection'],
  ['dns_lookup_time_ms', 'DNS lookup time in ms.', 'DNSLookup'],
  ['connect_time_ms', 'Connection time in ms', 'Connect'],
  ['server_processing_time_ms', 'Server processing time in ms.', 'ServerProcessing'],
];

const PROBE_FAMILIES = PROBES.map(([name, help, of]) => ({
  family: { name: `ncagent_http_probe_${name}`, type: 'gauge', help, labelNames: ['agent', 'url'] } satisfies Family,
  of,
}));

type LabelledValue = readonly [labels: string, value: number];

/** The metrics of the reports. */
export const REPORT_METRICS: readonly Family[] = [
  REPORT_COUNT,
  ERROR_COUNT,
  ...PROBE_FAMILIES.map(({ family }) => family),
];

/**
 * The metrics of the original server under its names, in the text format of Prometheus (0.0.4), in parts. With 10,000 agents
 * they are 15 MB and 100,000 series; prom-client would make labels and their text for each of them. The values are read
 * from the reports at each scrape: the series of an agent end with the agent.
 *
 * A URL has series if a check assigns it to the agent, or if it is common: see `commonUrls`. An agent can report any URL.
 *
 * @param budget the URLs that have series, with MOST_PROBED_URLS as its limits
 */
export function reportMetrics(reports: Reports, assignedTo: AssignedUrls, budget: SeriesBudget): Generator<string> {
  return inParts(metricTexts(reports, assignedTo, budget));
}

function* metricTexts(reports: Reports, assignedTo: AssignedUrls, budget: SeriesBudget): Generator<string> {
  yield* textsOf(REPORT_COUNT, sums(reports, ({ reportCount }) => reportCount));
  yield* textsOf(ERROR_COUNT, sums(reports, ({ errorCount }) => errorCount));
  const series = withPlace(probeSeries(reports, assignedTo), budget);
  for (const { family, of } of PROBE_FAMILIES) yield* textsOf(family, figures(series, of));
}

/** Yields the text of a metric, and then of its values. An empty line comes first, as between the metrics of prom-client. */
function* textsOf({ name, type, help }: Family, values: Iterable<LabelledValue>): Generator<string> {
  yield `\n# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const [labels, value] of values) yield `${name}{${labels}} ${value}\n`;
}

function* figures(series: Iterable<readonly [string, { probe: Probe }]>, of: keyof ProbeResult): Generator<LabelledValue> {
  for (const [labels, { probe }] of series) {
    const value = probe[of];
    if (isFigure(value)) yield [labels, value];
  }
}

/** The texts of labels, with the escapes of the text format. */
function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`)
    .join(',');
}

/** Adds up counters by label: while a pod is replaced, two pods have the same label. */
function sums(reports: Reports, of: (state: AgentState) => number): ReadonlyMap<string, number> {
  const byLabels = new Map<string, number>();
  for (const [, state] of reports.entries()) {
    const labels = labelsOf({ agent: agentLabel(state.report) });
    byLabels.set(labels, (byLabels.get(labels) ?? 0) + of(state));
  }
  return byLabels;
}

/** A longer time was not measured: see `probeSchema`. */
const DAY_MS = 86_400_000;

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= DAY_MS;
}

/**
 * URLs with series within three hours. Each has two series for each node, or sixteen if the page is kept whole, so that with 30 of them a
 * node has at most 60 more than it has at a time.
 */
export const MOST_PROBED_URLS = { ofOwner: 30, ofAll: 60 };

/** URLs of an agent that have series, each eight: see the sum in evaluationMetrics.ts. */
const MOST_URLS = 2;
/** The ping of the server, whose series the alerts need, then the first of the others. The API has all. */
function withSeries(probes: readonly Probe[]): readonly Probe[] {
  const byRank = probes.map((probe, n) => ({ probe, rank: probe.URL.endsWith(PING_PATH) ? -1 : n }));
  const urls = [...new Set(byRank.sort((a, b) => a.rank - b.rank).map(({ probe }) => probe.URL))].slice(0, MOST_URLS);
  return probes.filter(({ URL }) => urls.includes(URL));
}

type Probe = UrlResults[number];

/** The results for URLs that may have series. Those that only the agent knows are dropped. */
function known(report: Report, common: ReadonlySet<string>, assignedTo: AssignedUrls): UrlResults {
  const probes = report.network_probes ?? [];
  // Nearly always: then nothing has to be known of the agent.
  if (probes.every(({ URL }) => common.has(URL))) return probes;
  const assigned = assignedTo(report);
  return probes.filter(({ URL }) => common.has(URL) || assigned.includes(URL));
}

/** The series of the URLs that have a place. The ping of the server is the first one to have it, and keeps it. */
function withPlace<S extends { probe: Probe }>(series: ReadonlyMap<string, S>, budget: SeriesBudget) {
  const urls = new Set(Array.from(series.values(), ({ probe }) => probe.URL));
  const placed = budget.show('urls', Array.from(urls, (id) => ({ owner: '', id })));
  return [...series].filter(([, { probe }]) => placed.has(probe.URL));
}

function* allProbes(reports: Reports): Generator<UrlResults> {
  for (const [, { report }] of reports.entries()) yield report.network_probes ?? [];
}

/** The probes by labels. Of two pods with one label, the later report counts. */
function probeSeries(reports: Reports, assignedTo: AssignedUrls): ReadonlyMap<string, { probe: Probe; at: string }> {
  const byLabels = new Map<string, { probe: Probe; at: string }>();
  const common = commonUrls(allProbes(reports));
  for (const [, { report }] of reports.entries()) {
    const at = report.last_updated ?? '';
    for (const probe of withSeries(known(report, common, assignedTo))) {
      const labels = labelsOf({ agent: agentLabel(report), url: probe.URL });
      if ((byLabels.get(labels)?.at ?? '') <= at) byLabels.set(labels, { probe, at });
    }
  }
  return byLabels;
}
