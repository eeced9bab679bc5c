import { expect, it } from 'vitest';
import { lastRunsLine } from '../generate/lastRuns.ts';
import { recordedCommits, recordOf, type Verified } from './record.ts';
import type { Times } from './run/times.ts';

const COMMIT = '0123456789abcdef';
const level = (name: string, passed: number, failed = 0) => ({
  level: name,
  passed,
  failed,
  seconds: 1,
  cpuSeconds: 1,
});
const TIMES: Times = {
  ...{ date: '2026-01-31T12:00:00.000Z', commit: COMMIT, passed: 9000, failed: 0, seconds: 1, buildsCpuSeconds: 0 },
  levels: [level('unit', 8000), level('e2e', 1000)],
};
const BEFORE: Verified = { unit: { commit: 'older', date: '2026-01-01', passed: 1 } };
const OF_RUN = (passed: number) => ({ commit: COMMIT, date: '2026-01-31', passed });

it.each<{ why: string; times: Times; now: string | undefined; is: unknown }>([
  {
    why: 'Levels that passed have the commit that is still there',
    times: TIMES,
    now: COMMIT,
    is: { unit: OF_RUN(8000), e2e: OF_RUN(1000) },
  },
  {
    why: 'A level that failed, or had no test, keeps its record, or has none',
    times: { ...TIMES, levels: [level('unit', 7999, 1), level('e2e', 1000), level('kills', 0)] },
    now: COMMIT,
    is: { ...BEFORE, e2e: OF_RUN(1000) },
  },
  {
    why: 'A level that did not run keeps its record',
    times: { ...TIMES, levels: [level('kills', 3)] },
    now: COMMIT,
    is: { ...BEFORE, kills: OF_RUN(3) },
  },
  { why: 'No level passed', times: { ...TIMES, levels: [level('unit', 1, 1)] }, now: COMMIT, is: 'no level passed' },
  {
    why: 'A dirty tree has no commit',
    times: { ...TIMES, commit: undefined },
    now: COMMIT,
    is: expect.stringContaining('not clean'),
  },
  {
    why: 'A tree may be changed during the run',
    times: TIMES,
    now: undefined,
    is: expect.stringContaining('not clean'),
  },
  {
    why: 'Another commit may be checked out',
    times: TIMES,
    now: 'other',
    is: expect.stringContaining('another commit'),
  },
])('$why', ({ times, now, is }) => expect(recordOf(BEFORE, times, now)).toEqual(is));

it('has no commit that is a name, and none if it cannot be read', () => {
  const digits = '0'.repeat(40);
  const text = JSON.stringify({ unit: { commit: digits }, e2e: { commit: 'HEAD' }, chart: {}, kills: null });
  expect([...recordedCommits(text)]).toEqual([['unit', digits]]);
  expect([...recordedCommits('{ "unit":')]).toEqual([]);
  expect([...recordedCommits('{ "commit": "x", "date": "2026-01-31", "passed": 1, "failed": 0 }')]).toEqual([]);
});

it('docs/reliability.md has it in a line, with the levels of each commit', () => {
  const record = {
    unit: OF_RUN(8000),
    e2e: OF_RUN(1000),
    kills: { commit: 'fedcba9876543210', date: '2026-01-01', passed: 3 },
  };
  expect(lastRunsLine(record)).toBe(
    'Last runs that passed: 2026-01-31, commit 0123456789ab, 9000 tests (unit, e2e); 2026-01-01, commit fedcba987654, 3 tests (kills)',
  );
  expect(lastRunsLine({})).toBe('Last runs that passed: none is recorded yet');
});
