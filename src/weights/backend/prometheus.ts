import { cut } from '../../runtime/status/cut.ts';
import {
  BackendError,
  throwUnavailable,
  type BackendWeights,
  type ReadOptions,
  type WeightBackend,
} from './backend.ts';
import { singleValue } from './singleValue.ts';

/** How a measured value becomes a weight. */
export interface MeasuredOptions {
  /** PromQL that gives one series. */
  readonly query: string;
  /** The value that is a weight of 100; above 0. */
  readonly fullValue: number;
  /** A weight that differs by less from the last one is not taken: 0 to 100. */
  readonly minChange: number;
}

/**
 * Asks Prometheus. Resolves to the value of each series.
 *
 * @throws Error with a message for users
 */
export type AskPrometheus = (query: string, signal: AbortSignal) => Promise<readonly number[]>;

/** The weights of a cluster with nothing free, and with all of it. */
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
 * | one that is near the last weight | the last one: each change writes all records. 0 and 100 are reached, and 0 is left, in any case |
 * | no series, several, NaN or Inf   | an error, so that the last one stays: missing data is no number     |
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
