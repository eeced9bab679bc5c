import { describe, expect, it } from 'vitest';
import { resultOf, type Figure } from './figure.ts';

const figure: Figure = { id: 'a.b', what: 'something', unit: 'ms', samples: [3, 1, 2] };

describe('resultOf', () => {
  it('says of which figure there is no number', () => {
    expect(() => resultOf({ ...figure, samples: [1 / 0] })).toThrow('a.b: no finite numbers: Infinity');
    expect(() => resultOf({ ...figure, limit: { what: 'the bare thing', samples: [] } })).toThrow(
      'a.b, limit: nothing',
    );
  });

  it('judges nothing without a goal', () => {
    expect(resultOf(figure)).toEqual({
      id: 'a.b',
      what: 'something',
      unit: 'ms',
      summary: { count: 3, min: 1, median: 2, max: 3 },
    });
  });

  it('holds the median against the goal', () => {
    expect(resultOf({ ...figure, atMost: 2 }).met).toBe(true);
    expect(resultOf({ ...figure, atMost: 1.9 }).met).toBe(false);
  });

  it('holds the most against the goal, of what is counted', () => {
    expect(resultOf({ ...figure, unit: 'connections', atMost: 3 }).met).toBe(true);
    expect(resultOf({ ...figure, unit: 'connections', atMost: 2 }).met).toBe(false);
  });

  it('holds the ratio of the medians against its goal, too', () => {
    const limit = { what: 'the bare thing', samples: [1, 1, 1] };
    expect(resultOf({ ...figure, limit })).toMatchObject({ ratio: 2 });
    expect(resultOf({ ...figure, limit })).not.toHaveProperty('met');
    expect(resultOf({ ...figure, atMost: 5, limit: { ...limit, atMostTimes: 2 } }).met).toBe(true);
    expect(resultOf({ ...figure, atMost: 5, limit: { ...limit, atMostTimes: 1.9 } }).met).toBe(false);
    expect(resultOf({ ...figure, atMost: 1, limit: { ...limit, atMostTimes: 2 } }).met).toBe(false);
  });
});
