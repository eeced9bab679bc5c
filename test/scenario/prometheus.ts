import { getRaw } from './api.ts';
import { NAMESPACE } from './install.ts';

/** One series of an answer of an instant query. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: readonly [seconds: number, text: string];
}

/** Asks the operator's own Prometheus through the API server's proxy. Rejects if Prometheus refuses the query. */
export async function ask(promql: string): Promise<readonly Series[]> {
  const proxy = `/api/v1/namespaces/${NAMESPACE}/services/prometheus:9090/proxy`;
  const path = `${proxy}/api/v1/query?${new URLSearchParams({ query: promql }).toString()}`;
  return (JSON.parse(await getRaw(path)) as { data: { result: readonly Series[] } }).data.result;
}

/**
 * Whether the rate of a node, over the operator's window, was above the limit during the last 25 s. Then the operator's
 * last two finished passes show it too: the older one began 20 s ago, or slightly more while a pass is running. The range
 * is 30 s, because Prometheus' first step may be up to 5 s after its beginning.
 */
export async function hasSentAbove(node: string, bytesPerSecond: number): Promise<boolean> {
  const rate = `sum(rate(node_network_transmit_bytes_total{node="${node}",device!="lo"}[20s]))`;
  const all = `min_over_time(${rate}[30s:5s]) > ${bytesPerSecond} and count_over_time(${rate}[30s:5s]) >= 6`;
  return (await ask(all)).length > 0;
}
