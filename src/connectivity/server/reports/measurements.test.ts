import { expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { Measurements } from './measurements.ts';

const MEASUREMENT = { plane: 'Pod', port: 8_082, peers: [], targets: [], heard: {}, failedReports: 0 } as const;
const REPORT = { podname: 'a', nodename: 'n1', report_interval: 15 };

it.each([
  ['of the same node within two intervals', 'n1', 30_000, true],
  ['before a gap', 'n1', 30_001, false],
  ['of another node', 'n2', 30_000, false],
])('a measurement %s is the one before: %s %i %s', async (_, nodename, afterMs, isBefore) => {
  const clock = new FakeClock();
  const measurements = new Measurements(clock);
  measurements.accept({ ...REPORT, nodename }, MEASUREMENT);
  await clock.advance(afterMs);
  measurements.accept(REPORT, MEASUREMENT);
  expect(measurements.get('a')?.times.before !== undefined).toBe(isBefore);
});
