import { cut } from '../../runtime/controller/conditions.ts';
import {
  BackendError,
  throwUnavailable,
  type BackendWeights,
  type ReadOptions,
  type WeightBackend,
} from './backend.ts';

/** The conversion of a measured value to a weight. */
export interface MeasuredOptions {
  /** PromQL that gives one series. */
  readonly query: string;
  /** The value for the weight 100; above 0. */
  readonly fullValue: number;
  /** The smallest change of the weight that is applied: 0 to 100. */
  readonly minChange: number;
}

/**
 * Asks Prometheus. Resolves to the value of each series.
 *
 * @throws Error with a message for users
 */
export type AskPrometheus = (query: string, signal: AbortSignal) => Promise<readonly number[]>;

/** The weights of a cluster without free capacity, and with all of it free. */
const LEAST = 0;
const MOST = 100;
/** Characters of a query that a message repeats. */
const LONGEST_QUOTE = 120;

/**
 * The weight of a cluster from a measurement, such as the free share of its uplinks.
 *
 * | the query gives                  | weight                                                              |
 * |----------------------------------|---------------------------------------------------------------------|
 * | one number                       | 100 x number / fullValue, rounded, from 0 to 100                    |
 * | a weight within `minChange` of the last weight | the last weight, since each change writes all records. Changes to or from 0, and to 100, are always applied |
 * | no series, several, NaN or Inf   | an error, so that the last weight stays: missing data never becomes a number |
 */
export class PrometheusBackend implements WeightBackend {
  readonly #options: MeasuredOptions;
  readonly #ask: AskPrometheus;

  constructor(options: MeasuredOptions, ask: AskPrometheus) {
    this.#options = options;
    this.#ask = ask;
  }

  async read({ known }: ReadOptions, signal: AbortSignal): Promise<BackendWeights> {
    const { fullValue, minChange } = this.#options;
    return {
      desired: heldWeight(measuredWeight(await this.#value(signal), fullValue), known, minChange),
      current: undefined,
    };
  }

  close(): void {
    // It holds nothing.
  }

  async #value(signal: AbortSignal): Promise<number> {
    const values = await this.#ask(this.#options.query, signal).catch(throwUnavailable);
    const single = singleValue(values);
    if ('instead' in single) throw this.#invalid(single.instead);
    return single.value;
  }

  #invalid(got: string): BackendError {
    const { query } = this.#options;
    return new BackendError(
      'InvalidWeight',
      `the query ${cut(query, LONGEST_QUOTE)} gives ${got}: must give one series with a number`,
    );
  }
}

function measuredWeight(value: number, fullValue: number): number {
  return Math.min(Math.max(Math.round((MOST * value) / fullValue), LEAST), MOST);
}

function heldWeight(measured: number, known: number | undefined, minChange: number): number {
  const isEnd = [measured, known].includes(LEAST) || measured === MOST;
  if (known === undefined || known > MOST || isEnd) return measured;
  return Math.abs(measured - known) < minChange ? known : measured;
}

/** Returns the value of a query that gives one finite number; else a text for messages that says what the query gives. */
export function singleValue(values: readonly number[]): { readonly value: number } | { readonly instead: string } {
  const [value, ...others] = values;
  if (value === undefined) return { instead: 'no series' };
  if (others.length > 0) return { instead: `${values.length} series` };
  return Number.isFinite(value) ? { value } : { instead: String(value) };
}
