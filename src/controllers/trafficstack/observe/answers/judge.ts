import type { Verdict } from '../observation.ts';

/**
 * What the values of a query say.
 *
 * | the query gives                     | verdict |
 * |-------------------------------------|--------|
 * | no series, as `up == 1` does if all are down | False |
 * | a series that is 0 or NaN           | False  |
 * | anything else                       | True   |
 */
export function judge(values: readonly number[]): Verdict {
  if (values.length === 0) return { is: 'False', message: 'gives no series' };
  const first = values.find((value) => value === 0 || Number.isNaN(value));
  if (first === undefined) return { is: 'True' };
  // How many would be another message, and so another status, with each answer.
  return { is: 'False', message: values.length === 1 ? `gives ${first}` : `gives ${first} for a series` };
}
