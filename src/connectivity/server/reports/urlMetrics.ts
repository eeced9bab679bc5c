import { Gauge, type Registry } from 'prom-client';
import type { Report } from '../../../api/agent/report.ts';
import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import { silentBudgets, type CreateBudget } from '../../../runtime/manager/seriesBudget.ts';
import type { Reports } from './reports.ts';

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

/** From this HTTP status on, a request failed. */
const FIRST_ERROR = 400;

/** The results of one agent. */
export type UrlResults = Readonly<NonNullable<Report['network_probes']>>;

/** The URLs that ConnectivityChecks assign to the agent of a report. */
export type AssignedUrls = (report: Pick<Report, 'podname' | 'nodename'>) => readonly string[];

/** The results of one agent, and the URLs that it was assigned. */
interface AgentUrls {
  readonly results: UrlResults;
  readonly assigned: readonly string[];
}

/**
 * Counts the agents for which a URL fails.
 *
 * | result of the last request | counts as |
 * |---|---|
 * | no connection | failing |
 * | a connection, and no response (status 0) | failing |
 * | status of 400 or more | failing |
 * | another status | well |
 * | none, or one without a status | nothing: it is not known |
 * | of a URL that is not assigned to the agent | nothing: an agent can report any URL |
 *
 * @param agents with a current report
 * @returns by URL; a URL without a result has no entry
 */
export function failingAgents(agents: Iterable<AgentUrls>): ReadonlyMap<string, number> {
  const failing = new Map<string, number>();
  for (const { results, assigned } of agents) {
    // An agent is counted once for a URL, however often it reports it.
    const last = new Map(results.map((result) => [result.URL, result]));
    for (const result of last.values()) {
      const fails = assigned.includes(result.URL) ? isFailure(result) : undefined;
      if (fails !== undefined) failing.set(result.URL, (failing.get(result.URL) ?? 0) + Number(fails));
    }
  }
  return failing;
}

function isFailure({ ConnectionResult, HTTPCode }: UrlResults[number]): boolean | undefined {
  if (ConnectionResult === 0) return true;
  if (HTTPCode === undefined) return undefined;
  return HTTPCode <= 0 || HTTPCode >= FIRST_ERROR;
}

/** More agents than this share of those with results request a URL that is common. */
const LEAST_SHARE = 0.25;

/**
 * Returns the URLs that many agents request: the server's URL, and the URLs of `-probeurls`, which the server does not know.
 * All agents of a DaemonSet have the same `-probeurls`. A URL that only a few agents report may be made up, a new one in each
 * report, and each would be a new series. The common URLs are few however many are reported: an agent has 256 results at
 * most, and a quarter of the agents must report each common URL.
 *
 * @param agents results of each agent
 */
export function commonUrls(agents: Iterable<UrlResults>): ReadonlySet<string> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const results of agents) {
    if (results.length > 0) total += 1;
    for (const url of new Set(results.map(({ URL }) => URL))) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([url, count]) => (count > total * LEAST_SHARE ? [url] : [])));
}
