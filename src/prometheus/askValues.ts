import type { PrometheusClient } from './prometheusClient.ts';

/**
 * Asks for the value of each series that a query gives. What no sample can be read of counts as NaN.
 *
 * @throws Error with a message for users, also if the server warns that series may be missing
 */
export type AskValues = (expression: string, signal: AbortSignal) => Promise<readonly number[]>;

/** Milliseconds that the server has for a query. */
const TIMEOUT_MS = 10_000;

/** Asks this Prometheus. */
export function askValuesOf(client: Pick<PrometheusClient, 'query'>): AskValues {
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
