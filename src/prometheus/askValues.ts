import type { InstantQuery, PrometheusClient } from './prometheusClient.ts';

/**
 * Asks for the value of each series that a query gives. A series without a readable sample counts as NaN.
 *
 * @throws Error with a message for users, also if the server warns that series may be missing
 */
export type AskValues = (expression: string, signal: AbortSignal) => Promise<readonly number[]>;

/** The labels of a series, with `__name__` if the query keeps it. */
export type SeriesLabels = Readonly<Record<string, string>>;

/**
 * Asks for the labels of each series that a query gives.
 *
 * @throws as AskValues
 */
export type AskLabels = (expression: string, signal: AbortSignal) => Promise<readonly SeriesLabels[]>;

type Asking = Pick<PrometheusClient, 'query'>;

/** Milliseconds that the server has for a query. */
const TIMEOUT_MS = 10_000;

/** Returns a function that asks this Prometheus for values. */
export function askValuesOf(client: Asking): AskValues {
  return (expression, signal) => ask(client, { expression, signal }, valueOf);
}

/** Returns a function that asks this Prometheus for labels. */
export function askLabelsOf(client: Asking): AskLabels {
  return (expression, signal) => ask(client, { expression, signal }, labelsOf);
}

async function ask<T>(
  client: Asking,
  query: Pick<InstantQuery, 'expression' | 'signal'>,
  read: (series: unknown) => T,
): Promise<T[]> {
  const found: T[] = [];
  const visit = (series: unknown): void => void found.push(read(series));
  const { warnings } = await client.query({ ...query, visitor: { visit }, timeoutMs: TIMEOUT_MS });
  // The answer may lack series, for example all series of one Thanos store.
  if (warnings[0] !== undefined) throw new Error(`Prometheus warns: ${warnings[0]}`);
  return found;
}

function labelsOf(series: unknown): SeriesLabels {
  return ((series ?? {}) as { metric?: SeriesLabels }).metric ?? {};
}

/** The value of an element of a vector: `{metric, value: [time, text]}`. */
function valueOf(series: unknown): number {
  const { value } = (series ?? {}) as { value?: unknown };
  const text: unknown = Array.isArray(value) ? value[1] : undefined;
  return typeof text === 'string' && text !== '' ? Number(text) : NaN;
}
