import { describe, expect, it } from 'vitest';
import { renderConclusion, renderEffect } from './effectTable.ts';
import { clientLateness } from './summary.ts';
import type { Measurement, Scenario } from './measurement.ts';

interface Sample {
  readonly p99: number;
  readonly onFull: number;
}

function measurement(scenario: Scenario, repetition: number, { p99, onFull }: Sample): Measurement {
  return {
    scenario,
    repetition,
    due: 100,
    answered: 99,
    failed: 1,
    answeredPerSecond: 5,
    p50Ms: 0.5,
    p99Ms: p99,
    maxMs: 2 * p99,
    lateP99Ms: 0.1,
    replicas: { node1: 6 - onFull, node2: onFull, node3: 0 },
    failedBefore: repetition,
    downloads: [90, 80.5, 85],
  };
}

const all = (scenario: Scenario, ...samples: Sample[]): Measurement[] =>
  samples.map((sample, n) => measurement(scenario, n + 1, sample));

/** Not in the order of the table: repetitions measure in turn. */
const run = {
  fullNode: 'node2',
  measurements: [
    ...all('Required', { p99: 1.2, onFull: 0 }, { p99: 1.1, onFull: 0 }, { p99: 9, onFull: 0 }),
    ...all('default', { p99: 40, onFull: 2 }, { p99: 35, onFull: 2 }, { p99: 41, onFull: 1 }),
    ...all('Preferred', { p99: 1.3, onFull: 0 }, { p99: 1.25, onFull: 0 }, { p99: 1, onFull: 1 }),
    ...all('by hand', { p99: 1, onFull: 0 }, { p99: 1.25, onFull: 0 }, { p99: 2, onFull: 0 }),
    ...all('idle', { p99: 1, onFull: 2 }, { p99: 0.9, onFull: 2 }, { p99: 1.5, onFull: 2 }),
  ],
};

describe('renderEffect', () => {
  it('has a line for each scenario, with its medians and the medians of idle', () => {
    const lines = renderEffect(run).replaceAll(/ +/g, ' ').split('\n');
    const rest = '5 | 3 of 300 | 6 | 80.5 |';
    expect(lines.slice(2)).toEqual([
      `| idle cluster | 2, 2, 2 | 0.500 | 1 (0.900 to 1.50) | | | | 2 (1.80 to 3) | ${rest}`,
      `| full link, default scheduling | 2, 2, 1 | 0.500 | 40 (35 to 41) | 40.00 | | | 80 (70 to 82) | ${rest}`,
      `| full link, kept off by hand | 0, 0, 0 | 0.500 | 1.25 (1 to 2) | 1.25 | | | 2.50 (2 to 4) | ${rest}`,
      `| full link, Preferred | 0, 0, 1 | 0.500 | 1.25 (1 to 1.30) | 1.25 | 1.00 | **no** | 2.50 (2 to 2.60) | ${rest}`,
      `| full link, Required | 0, 0, 0 | 0.500 | 1.20 (1.10 to 9) | 1.20 | 0.96 | yes | 2.40 (2.20 to 18) | ${rest}`,
    ]);
  });

  it('has no limit if nothing was kept off by hand', () => {
    const measurements = run.measurements.filter(({ scenario }) => scenario !== 'by hand');
    expect(renderEffect({ ...run, measurements }).replaceAll(/ +/g, ' ')).toContain('| 1.25 | | **no** |');
  });

  it('compares nothing with an idle cluster that was not measured', () => {
    const measurements = run.measurements.filter(({ scenario }) => scenario !== 'idle');
    expect(() => renderEffect({ ...run, measurements })).toThrow('nothing was measured');
  });
});

it('says in sentences what the table says', () => {
  expect(renderConclusion(run).split('\n')).toEqual([
    '- **full link, default scheduling**: up to 2 replicas were on the full node; p99 40 ms, 40.00 times as long as on the idle cluster.',
    '- **full link, kept off by hand**: no replica was on the full node; p99 1.25 ms, 1.25 times as long as on the idle cluster.',
    '- **full link, Preferred**: up to 1 replicas were on the full node; p99 1.25 ms, 1.25 times as long as on the idle cluster, 1.00 times as long as with pods kept off by hand.',
    '- **full link, Required**: no replica was on the full node; p99 1.20 ms, 1.20 times as long as on the idle cluster, 0.96 times as long as with pods kept off by hand.',
  ]);
});

it('says when the client was too late to measure the network', () => {
  const busy = { ...run.measurements[0]!, lateP99Ms: 2.5 };
  expect(clientLateness(run)).toEqual({ ms: 0.1, isTooLate: false });
  expect(clientLateness({ measurements: [...run.measurements, busy] })).toEqual({ ms: 2.5, isTooLate: true });
});
