import { expect, it } from 'vitest';
import { judge, valueText } from './gate.ts';

it.each([
  [0.009, '< 0.01', 'Passed'],
  [0.01, '< 0.01', 'Failed'],
  [0.01, '<=0.01', 'Passed'],
  [99.5, '>= 99.5', 'Passed'],
  [99.4, '>= 99.5', 'Failed'],
  [-2, '> -3', 'Passed'],
  [1, '== 1', 'Passed'],
  [1, '!= 1', 'Failed'],
])('%d %s is %s', (value, condition, result) => {
  expect(judge([value], condition)).toEqual({ result, value });
});

it.each([
  [[], 'the query gives no series'],
  [[1, 1], 'the query gives 2 series: must be one'],
  [[NaN], 'the query gives NaN'],
  [[Infinity], 'the query gives Infinity'],
])('%j is no data', (values, message) => {
  expect(judge(values, '!= 5')).toEqual({ result: 'NoData', message });
});

it.each([
  [0.9230769230769231, '< 0.01', '0.9231'],
  [0.010000001, '< 0.01', '0.01'],
  [0.010000001, '<= 0.01', '0.010000001'],
  [1234567, '< 5', '1235000'],
  [0.5, '< 0.01', '0.5'],
])('%d, which is not %s, is shown as %s', (value, condition, text) => {
  expect(valueText(value, condition)).toBe(text);
});
