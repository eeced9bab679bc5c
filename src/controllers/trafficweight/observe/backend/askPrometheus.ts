import type { PrometheusClient } from '../../../../prometheus/prometheusClient.ts';
import type { AskPrometheus } from '../../../../weights/backend/prometheus.ts';

/** Milliseconds that the server has for a query. */
const TIMEOUT_MS = 10_000;

/** Asks the Prometheus of the operator. What no sample can be read of counts as NaN. */
export function askOf(client: Pick<PrometheusClient, 'query'>): AskPrometheus {
  return async (expression, signal) => {
    const values: number[] = [];
    const visit = (series: unknown): void => {
      values.push(valueOf(series));
    };
    const { warnings } = await client.query({ expression, visitor: { visit }, signal, timeoutMs: TIMEOUT_MS });
    // The answer may lack series, such as those of one store of Thanos.
    if (warnings[0] !== undefined) throw new Error(`Prometheus warns: ${warnings[0]}`);
    return values;
  };
}

/** The value of an element of a vector: `{metric, value: [time, text]}`. */
function valueOf(series: unknown): number {
  const { value } = (series ?? {}) as { value?: unknown };
  const text: unknown = Array.isArray(value) ? value[1] : undefined;
  return typeof text === 'string' && text !== '' ? Number(text) : NaN;
}
