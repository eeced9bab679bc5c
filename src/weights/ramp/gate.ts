import { singleValue } from '../backend/singleValue.ts';

/** The result of a gate. */
export type GateResult =
  | { readonly result: 'Passed' | 'Failed'; readonly value: number }
  /** @property message why there is no number */
  | { readonly result: 'NoData'; readonly message: string };

const COMPARISONS: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '==': (value, limit) => value === limit,
  '!=': (value, limit) => value !== limit,
};

/**
 * Returns whether the values of a query meet a condition. The result is NoData unless the query gives one finite number.
 *
 * @param condition a comparison with a number, such as `< 0.01`
 */
export function judge(values: readonly number[], condition: string): GateResult {
  const single = singleValue(values);
  if ('instead' in single) {
    const rule = values.length > 1 ? ': must be one' : '';
    return { result: 'NoData', message: `the query gives ${single.instead}${rule}` };
  }
  const { value } = single;
  const [, operator = '', limit = ''] = /^([<>=!]+) ?(.*)$/.exec(condition) ?? [];
  return { result: COMPARISONS[operator]?.(value, Number(limit)) === true ? 'Passed' : 'Failed', value };
}

/** Significant digits of a value in a message. */
const DIGITS_SHOWN = 4;

/** Returns the value of a failed gate for messages: rounded, unless the rounded value would pass. */
export function valueText(value: number, condition: string): string {
  const rounded = Number(value.toPrecision(DIGITS_SHOWN));
  return String(judge([rounded], condition).result === 'Failed' ? rounded : value);
}
