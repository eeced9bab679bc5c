import { AGENT_NAME, SERVER_NAME } from '../../src/connectivity/objects/names.ts';
import { startPrometheus, type RunningPrometheus } from '../harness/prometheus.ts';

/** A series of an answer of Prometheus: one sample of an instant query, several of a range query. */
export interface Series {
  metric: Record<string, string>;
  value?: [number, string];
  values?: [number, string][];
}

/** A Prometheus in addition to the one that the operator asks. */
export interface Observer {
  /** As Grafana asks: once, or over the time since the observer began. Throws what Prometheus refuses, with the query. */
  answerTo(query: string, instant: boolean): Promise<Series[]>;
  stop(): Promise<void>;
}

/** The connectivity check, as host:port. */
export interface Connectivity {
  readonly server: string;
  /** An agent of the pod network of n1. */
  readonly agent: string;
}

/**
 * Starts one that scrapes an operator and an exporter every second, and the connectivity check if there is one, as its own
 * jobs.
 * @param operator,exporter host:port
 */
export async function startObserver(operator: string, exporter: string, check?: Connectivity): Promise<Observer> {
  const prometheus = await startPrometheus({ config: scraping(operator, exporter, check) });
  const begin = Date.now() / 1000;
  return {
    answerTo: async (query, instant) => {
      if (instant) return ask(prometheus, 'query', { query });
      const range = { start: String(begin), end: String(Date.now() / 1000), step: '1' };
      return ask(prometheus, 'query_range', { query, ...range });
    },
    stop: () => prometheus.stop(),
  };
}

/** n1 a second time, as an exporter shows it whose series have no `node`. */
function scraping(operator: string, exporter: string, check?: Connectivity): object {
  const target = { targets: [exporter] };
  const bare = [
    { source_labels: ['node'], regex: 'n1', action: 'keep' },
    { regex: 'node', action: 'labeldrop' },
  ];
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [
      { job_name: 'traffic-operator', static_configs: [{ targets: [operator] }] },
      { job_name: 'node-exporter', static_configs: [target] },
      {
        job_name: 'bare',
        static_configs: [{ ...target, labels: { instance: 'bare:9100' } }],
        metric_relabel_configs: bare,
      },
      ...(check === undefined ? [] : connectivityJobs(check)),
    ],
  };
}

function connectivityJobs({ server, agent }: Connectivity): object[] {
  const labels = { node: 'n1', plane: 'Pod', instance: 'n1' };
  return [
    { job_name: SERVER_NAME, static_configs: [{ targets: [server] }] },
    { job_name: AGENT_NAME, static_configs: [{ targets: [agent], labels }] },
  ];
}

async function ask(prometheus: RunningPrometheus, path: string, form: Record<string, string>): Promise<Series[]> {
  const answer = await fetch(`${prometheus.url}/api/v1/${path}`, { method: 'POST', body: new URLSearchParams(form) });
  const body = (await answer.json()) as { status: string; data?: { result: Series[] }; error?: string };
  if (body.status !== 'success') throw new Error(`${form.query}: ${body.error}`);
  return body.data?.result ?? [];
}

/** The newest values, by the values of their labels. */
export function valuesByLabels(series: readonly Series[]): Record<string, number> {
  return Object.fromEntries(series.map(({ metric, value }) => [Object.values(metric).join(' '), Number(value![1])]));
}

/** The alerts whose expression has a result now, with the labels of each. */
export async function alertsHolding(
  observer: Observer,
  alerts: readonly { readonly alert: string; readonly expr: string }[],
): Promise<Record<string, Series['metric'][]>> {
  const found: Record<string, Series['metric'][]> = {};
  for (const { alert, expr } of alerts) {
    const series = await observer.answerTo(expr, true);
    if (series.length > 0) found[alert] = series.map(({ metric }) => metric);
  }
  return found;
}

/** Every sample that is a number. */
export function numbersOf(series: readonly Series[]): number[] {
  const samples = series.flatMap(({ value, values }) => values ?? [value!]);
  return samples.flatMap(([, text]) => (text === 'NaN' ? [] : [Number(text)]));
}
