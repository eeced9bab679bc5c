import { NAMESPACE } from './install.ts';
import { kubectl } from './kubectl.ts';

/** One series of an answer: of an instant query with `value`, of one over time with `values`. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [seconds: number, text: string];
  readonly values?: readonly (readonly [seconds: number, text: string])[];
}

/** Asks the operator's own Prometheus through the API server's proxy. Throws when Prometheus refuses. */
export async function ask(promql: string): Promise<readonly Series[]> {
  return get('query', { query: promql });
}

/**
 * Whether a node sent more than so much all through the last 25 s, by rates over the operator's window: then so say the
 * operator's last two passes that ended. The older began 20 s ago, or a little more while another is under way; and the
 * first of Prometheus' steps comes up to 5 s after the beginning of its 30 s.
 */
export async function hasSentAbove(node: string, bytesPerSecond: number): Promise<boolean> {
  const rate = `sum(rate(node_network_transmit_bytes_total{node="${node}",device!="lo"}[20s]))`;
  const all = `min_over_time(${rate}[30s:5s]) > ${bytesPerSecond} and count_over_time(${rate}[30s:5s]) >= 6`;
  return (await ask(all)).length > 0;
}

/** Asks for the last minutes, a value every 5 s. */
export async function askOverTime(promql: string, minutes: number): Promise<readonly Series[]> {
  const end = Date.now() / 1000;
  return get('query_range', { query: promql, start: `${end - minutes * 60}`, end: `${end}`, step: '5' });
}

async function get(what: string, parameters: Record<string, string>): Promise<readonly Series[]> {
  const proxy = `/api/v1/namespaces/${NAMESPACE}/services/prometheus:9090/proxy`;
  const path = `${proxy}/api/v1/${what}?${new URLSearchParams(parameters).toString()}`;
  return (JSON.parse(await kubectl('get', '--raw', path)) as { data: { result: readonly Series[] } }).data.result;
}
