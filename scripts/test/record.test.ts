import { expect, it } from 'vitest';
import { fullRunLine } from '../generate/fullRun.ts';
import { LEVELS } from './levels.ts';
import { recordOf, type Verified } from './record.ts';
import type { Times } from './run/times.ts';

const COMMIT = '0123456789abcdef';
const TIMES: Times = {
  ...{ date: '2026-01-31T12:00:00.000Z', commit: COMMIT, passed: 9000, failed: 0, seconds: 1, buildsCpuSeconds: 0 },
  levels: LEVELS.filter(({ name }) => name !== 'docs').map(({ name }) => ({ level: name, seconds: 1, cpuSeconds: 1 })),
};
const RECORD: Verified = { commit: COMMIT, date: '2026-01-31', passed: 9000, failed: 0 };

it.each<{ why: string; times: Times; now: string | undefined; is: unknown }>([
  { why: 'Every level passed at a commit that is still there', times: TIMES, now: COMMIT, is: RECORD },
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
  {
    why: 'A level was left out',
    times: { ...TIMES, levels: TIMES.levels.slice(1) },
    now: COMMIT,
    is: 'the run had not the levels format',
  },
  { why: 'A test failed', times: { ...TIMES, failed: 2 }, now: COMMIT, is: '2 tests failed' },
])('$why', ({ times, now, is }) => expect(recordOf(times, now)).toEqual(is));

it('docs/reliability.md has a record in a line', () => {
  expect(fullRunLine(RECORD)).toBe('Full run: 2026-01-31, commit 0123456789ab, 9000 passed, 0 failed');
  expect(fullRunLine(undefined)).toBe('Full run: none is recorded yet');
});
