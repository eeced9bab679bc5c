import { describe, expect, it } from 'vitest';
import { resultOf, type Result } from '../figure.ts';
import { missedGoals } from '../goals.ts';
import { flatCost } from './flatCost.ts';

const perReport = (agents: number, ...samples: number[]): Result =>
  resultOf({ id: `connectivity.${agents}.perReport`, what: 'CPU per report', unit: 'ms', samples });
const cpu = resultOf({ id: 'connectivity.1000.cpu', what: 'CPU', unit: '% of a core', samples: [99] });

describe('flatCost', () => {
  it('compares the medians of the largest and the smallest scale, in whatever order they were measured', () => {
    const results = [perReport(10_000, 2, 3, 9), cpu, perReport(5_000, 7), perReport(1_000, 2)];
    expect(flatCost(results)).toMatchObject([
      {
        what: 'CPU per report with 10,000 agents, median',
        summary: { median: 3 },
        limit: { what: 'with 1,000 agents', summary: { median: 2 } },
        ratio: 1.5,
      },
    ]);
  });

  it.each([
    [2.5, true, 'a quarter more is noise'],
    [2.6, false, 'the cost of an agent grows with their number'],
    [1, true, 'fixed costs are divided among more'],
  ])('with %f ms instead of 2 is %s: %s', (ms, met) => {
    const results = flatCost([perReport(1_000, 2), perReport(10_000, ms)]);
    expect(results.map((each) => each.met)).toEqual([met]);
    expect(missedGoals(results) === undefined).toBe(met);
  });

  it('compares nothing for fewer than two scales', () => {
    expect(flatCost([])).toEqual([]);
    expect(flatCost([cpu, perReport(1_000, 2)])).toEqual([]);
  });
});
