import { PrometheusError } from './prometheusError.ts';

/** The answer to an instant query, without its series. */
export interface Answer {
  /** Number of series. */
  series: number;
  warnings: readonly string[];
  infos: readonly string[];
}

/** The type of the result of a query: one sample (vector) or the samples of a range (matrix) for each series. */
export type ResultType = 'vector' | 'matrix';

/** Removes secrets from a text. */
export type Conceal = (text: string) => string;

/** The parsed body of an answer, not validated. */
interface Envelope {
  status?: unknown;
  errorType?: unknown;
  error?: unknown;
  data?: { resultType?: unknown; result?: unknown } | null;
  warnings?: unknown;
  infos?: unknown;
  /** VictoriaMetrics sends it. */
  isPartial?: unknown;
}

const MOST_REMARKS = 5;
const LONGEST_REMARK = 300;
const LONGEST_ERROR = 200;

/**
 * Returns the error message of Prometheus for a failed query, shortened. Undefined for any other body. Prometheus sends it with
 * status 400, 422 or 503 (https://prometheus.io/docs/prometheus/latest/querying/api/).
 */
export function errorOf(body: unknown, conceal: Conceal): string | undefined {
  const { status, errorType, error } = (body ?? {}) as Envelope;
  if (status !== 'error' || typeof errorType !== 'string') return undefined;
  const text = `${errorType}: ${typeof error === 'string' ? error : 'no error text'}`;
  return conceal(text).replaceAll(/\s+/g, ' ').slice(0, LONGEST_ERROR);
}

/** Returns the series of an answer. Throws PrometheusError QueryFailed, or BadAnswer if the answer is not of this type. */
export function seriesOf(body: unknown, conceal: Conceal, type: ResultType): unknown[] {
  const failure = errorOf(body, conceal);
  if (failure !== undefined) throw new PrometheusError('QueryFailed', failure);
  const { status, data } = (body ?? {}) as Envelope;
  if (status !== 'success') throw new PrometheusError('BadAnswer', 'the answer does not come from the Prometheus API');
  if (data?.resultType !== type || !Array.isArray(data.result)) {
    throw new PrometheusError('BadAnswer', `the answer contains no ${type}`);
  }
  return data.result;
}

const PARTIAL = 'isPartial: a storage node did not answer, so series may be missing';

/**
 * Returns the warnings and infos of an answer: at most five of each, shortened. Adds a warning for `"isPartial": true`: vmselect
 * sends only this field, and no warning, when a storage node is unavailable and its series are missing
 * (https://docs.victoriametrics.com/victoriametrics/cluster-victoriametrics/#cluster-availability).
 */
export function remarksOf(body: unknown, conceal: Conceal): Omit<Answer, 'series'> {
  const { warnings, infos, isPartial } = (body ?? {}) as Envelope;
  const partial = isPartial === true ? [PARTIAL] : [];
  return { warnings: [...partial, ...remarks(warnings, conceal)], infos: remarks(infos, conceal) };
}

function remarks(found: unknown, conceal: Conceal): string[] {
  if (!Array.isArray(found)) return [];
  const texts = found.filter((remark): remark is string => typeof remark === 'string');
  return texts.slice(0, MOST_REMARKS).map((text) => conceal(text).slice(0, LONGEST_REMARK));
}

/** Throws PrometheusError BadAnswer if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Do not reuse the message of the exception: it quotes the text, which may contain secrets.
    throw new PrometheusError('BadAnswer', 'the answer is not JSON');
  }
}
