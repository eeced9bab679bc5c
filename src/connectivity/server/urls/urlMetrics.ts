import { Gauge, type Registry } from 'prom-client';
import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import { silentBudgets, type CreateBudget } from '../../../runtime/manager/seriesBudget.ts';
import type { Reports } from '../reports/reports.ts';
import { failingAgents, type AgentUrls, type AssignedUrls } from './failingAgents.ts';

/** URLs of ConnectivityChecks with a series within three hours. */
const MOST_URLS = { ofOwner: 1_000, ofAll: 2_000 };

/** The sources of the metric. */
export interface UrlMetricSource {
  readonly checks: Pick<Informer<ConnectivityCheck>, 'synced' | 'refusal'>;
  readonly reports: Pick<Reports, 'entries' | 'current'>;
  readonly assignedTo: AssignedUrls;
}

/**
 * Registers the gauge of failing agents by URL. It has one series for each URL of the ConnectivityChecks, at most 20 a
 * check, and none without a result: while the checks cannot be read, or before an agent has requested the URL.
 */
export function registerUrlMetrics(
  registry: Registry,
  source: UrlMetricSource,
  createBudget: CreateBudget = silentBudgets,
): void {
  const budget = createBudget('url', MOST_URLS);
  const gauge = new Gauge({
    name: 'traffic_operator_connectivity_url_failing_agents',
    help: 'Agents with a current report whose last request for the URL of a ConnectivityCheck got no connection, no response, or a status of 400 or more.',
    labelNames: ['url'],
    registers: [registry],
  });
  const get = gauge.get.bind(gauge);
  gauge.get = async () => {
    const failing = failingAgents(currentResults(source));
    const placed = budget.show(
      'urls',
      Array.from(failing.keys(), (id) => ({ owner: '', id })),
    );
    const shown = [...failing].filter(([url]) => placed.has(url));
    return { ...(await get()), values: shown.map(([url, value]) => ({ labels: { url }, value })) };
  };
}

/** Yields the URL results of current reports. Yields none while the watch is refused: the checks may have changed since. */
function* currentResults({ checks, reports, assignedTo }: UrlMetricSource): Generator<AgentUrls> {
  if (!checks.synced || checks.refusal !== undefined) return;
  for (const [pod] of reports.entries()) {
    const report = reports.current(pod)?.report;
    const results = report?.network_probes ?? [];
    if (report !== undefined && results.length > 0) yield { results, assigned: assignedTo(report) };
  }
}
