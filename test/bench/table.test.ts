import { expect, it } from 'vitest';
import { resultOf } from './figure.ts';
import { renderTable } from './table.ts';

it('renders goals, limits and what was missed', () => {
  const limit = { what: 'bare', samples: [100], atMostTimes: 2 };
  const table = renderTable([
    resultOf({ id: 'a', what: 'slow', unit: 'ms', samples: [300.4, 250.123], atMost: 200, limit }),
    resultOf({ id: 'b', what: 'few', unit: 'calls', samples: [1], atMost: 1 }),
    resultOf({ id: 'c', what: 'free', unit: 's', samples: [0.123456] }),
  ]);
  expect(table.replaceAll(/ +/g, ' ').split('\n').slice(2)).toEqual([
    '| slow, ms | 250 | 250 | 300 | ≤ 200 | bare: 100 | 2.50 | ≤ 2 | **no** |',
    '| few, calls | 1 | 1 | 1 | ≤ 1 | | | | yes |',
    '| free, s | 0.123 | 0.123 | 0.123 | | | | | |',
  ]);
});
