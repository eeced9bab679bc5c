import { Counter, Gauge, type Registry } from 'prom-client';
import type { ProbeResult, Report } from '../../../api/agent/report.ts';
import { agentLabel } from '../../protocol/report.ts';
import type { AgentState, Reports } from './reports.ts';

interface Value<L extends string> {
  labels: Record<L, string>;
  value: number;
}

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

/**
 * Registers the metrics of the original server under its names. The values are read from the reports at each scrape:
 * the series of an agent end with the agent.
 */
export function registerAgentMetrics(registry: Registry, reports: Reports): void {
  counter(registry, 'report_count_total', 'Total number of reports (keepalive messages) from the agent.', () =>
    sums(reports, ({ reportCount }) => reportCount),
  );
  counter(registry, 'error_count_total', 'Total number of errors (keepalive miss count) for the agent.', () =>
    sums(reports, ({ errorCount }) => errorCount),
  );
  for (const [name, help, of] of PROBES) {
    const gauge = new Gauge({
      name: `ncagent_http_probe_${name}`,
      help,
      labelNames: ['agent', 'url'],
      registers: [registry],
    });
    const get = gauge.get.bind(gauge);
    gauge.get = async () => ({ ...(await get()), values: probeValues(reports, of) });
  }
}

function counter(registry: Registry, name: string, help: string, values: () => Value<'agent'>[]): void {
  const metric = new Counter({ name: `ncagent_${name}`, help, labelNames: ['agent'], registers: [registry] });
  const get = metric.get.bind(metric);
  metric.get = async () => ({ ...(await get()), values: values() });
}

/** While a pod is replaced, two pods have one label: their counters are added. */
function sums(reports: Reports, of: (state: AgentState) => number): Value<'agent'>[] {
  const byAgent = new Map<string, number>();
  for (const [, state] of reports.entries()) {
    const agent = agentLabel(state.report);
    byAgent.set(agent, (byAgent.get(agent) ?? 0) + of(state));
  }
  return [...byAgent].map(([agent, value]) => ({ labels: { agent }, value }));
}

/** A longer time was not measured: see `probeSchema`. */
const DAY_MS = 86_400_000;

/** URLs of an agent that have series, each eight: see the sum in evaluationMetrics.ts. */
const MOST_URLS = 2;
/** The path that every agent requests, whatever its flags. The alerts need its series. */
const PING = '/api/v1/ping';

/** The ping of the server, then the first of the others. The API has all. */
function withSeries(probes: Report['network_probes']): NonNullable<Report['network_probes']> {
  const byRank = (probes ?? []).map((probe, n) => ({ probe, rank: probe.URL.endsWith(PING) ? -1 : n }));
  const urls = [...new Set(byRank.sort((a, b) => a.rank - b.rank).map(({ probe }) => probe.URL))].slice(0, MOST_URLS);
  return (probes ?? []).filter(({ URL }) => urls.includes(URL));
}

/** Of two pods with one label, the later report counts. */
function probeValues(reports: Reports, of: keyof ProbeResult): Value<'agent' | 'url'>[] {
  const bySeries = new Map<string, { value: Value<'agent' | 'url'>; at: string }>();
  for (const [, { report }] of reports.entries()) {
    const at = report.last_updated ?? '';
    for (const probe of withSeries(report.network_probes)) {
      const labels = { agent: agentLabel(report), url: probe.URL };
      const key = JSON.stringify(labels);
      const figure = probe[of];
      if (typeof figure !== 'number' || figure < 0 || figure > DAY_MS || (bySeries.get(key)?.at ?? '') > at) continue;
      bySeries.set(key, { value: { labels, value: figure }, at });
    }
  }
  return [...bySeries.values()].map(({ value }) => value);
}
