import { describe, expect, it } from 'vitest';
import { growth, percentile, summarize } from './statistics.ts';

describe('summarize', () => {
  it('orders by size, not as text', () => {
    expect(summarize([100, 9, 20])).toEqual({ count: 3, min: 9, median: 20, max: 100 });
  });

  it('takes a sample for the median, of two in the middle the lower', () => {
    expect(summarize([4, 1, 3, 2]).median).toBe(2);
  });

  it('makes no number of nothing', () => {
    expect(() => summarize([])).toThrow(RangeError);
    // Some time over no pass, and no time over no pass.
    expect(() => summarize([1, Infinity])).toThrow('no finite numbers: 1, Infinity');
    expect(() => summarize([NaN])).toThrow(RangeError);
  });
});

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, n) => n + 1);

  it('is the sample that so many are not above', () => {
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile([...hundred, 101], 0.99)).toBe(100);
  });

  it('is the largest of few', () => {
    expect(percentile([1, 2, 3], 0.99)).toBe(3);
  });
});

describe('growth', () => {
  it('leaves out the start, and what comes and goes', () => {
    expect(growth([1, 50, 100, 100, 130, 100, 99, 100, 200, 103, 103, 104])).toBe(3);
  });

  it('is below 0 for what shrinks', () => {
    expect(growth([9, 8, 7, 6])).toBe(-2);
  });

  it('makes no number of too little', () => {
    expect(() => growth([1, 2, 3])).toThrow(RangeError);
  });
});
