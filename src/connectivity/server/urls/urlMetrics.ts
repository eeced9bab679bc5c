import { Gauge, type Registry } from 'prom-client';
import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Informer, Lister } from '../../../runtime/cache/informer.ts';
import type { Reports } from '../reports/reports.ts';
import { failingAgents, type UrlResults } from './failingAgents.ts';

/** What the metric is made of. */
export interface UrlMetricSource {
  readonly checks: Pick<Informer<ConnectivityCheck>, 'synced' | 'refusal'> & {
    readonly lister: Pick<Lister<ConnectivityCheck>, 'list'>;
  };
  readonly reports: Pick<Reports, 'entries' | 'current'>;
}

/**
 * Registers the gauge of failing agents by URL. It has one series for each URL of the ConnectivityChecks, at most 20 a
 * check, and none without a result: while the checks cannot be read, or before an agent has requested the URL.
 */
export function registerUrlMetrics(registry: Registry, { checks, reports }: UrlMetricSource): void {
  const gauge = new Gauge({
    name: 'traffic_operator_connectivity_url_failing_agents',
    help: 'Agents with a current report whose last request for the URL of a ConnectivityCheck got no connection, no response, or a status of 400 or more.',
    labelNames: ['url'],
    registers: [registry],
  });
  const get = gauge.get.bind(gauge);
  gauge.get = async () => {
    const failing = failingAgents(urlsOf(checks), currentResults(reports));
    return { ...(await get()), values: [...failing].map(([url, value]) => ({ labels: { url }, value })) };
  };
}

/** None while the watch is refused: the checks may have changed since. */
function urlsOf({ synced, refusal, lister }: UrlMetricSource['checks']): ReadonlySet<string> {
  if (!synced || refusal !== undefined) return new Set();
  return new Set(lister.list().flatMap(({ spec }) => spec?.probes?.urls ?? []));
}

function* currentResults(reports: UrlMetricSource['reports']): Generator<UrlResults> {
  for (const [pod] of reports.entries()) yield reports.current(pod)?.report.network_probes ?? [];
}
