import { describe, expect, it } from 'vitest';
import { agentState, graceMs, type AgentTime } from './agentState.ts';

const GRACE_MS = graceMs(15_000);
const LONG_MS = 3_600_000;
const OLD: AgentTime = { ageMs: LONG_MS, runsMs: LONG_MS, upMs: LONG_MS, graceMs: GRACE_MS };
const report = (ageMs: number, isRestored = false) => ({ ageMs, intervalMs: 15_000, isRestored });
const [CURRENT, OUTDATED, RESTORED] = [report(30_000), report(30_001), report(0, true)];
const CRASHED = { phase: 'Stopped', problem: 'CrashLoopBackOff, exit code 1' } as const;
const LOOPS = { phase: 'Running', lastRunMs: GRACE_MS - 1 } as const;

describe('agentState', () => {
  it.each([
    ['is being deleted', { phase: 'Gone' }, CURRENT, OLD, 'Absent'],
    ['waits for its image', { phase: 'Waiting' }, undefined, { ...OLD, ageMs: 600_000 }, 'Starting'],
    ['waits for longer than ten minutes', { phase: 'Waiting' }, undefined, { ...OLD, ageMs: 600_001 }, 'Broken'],
    ['waits with a problem', { phase: 'Waiting', problem: 'x' }, undefined, { ...OLD, ageMs: GRACE_MS }, 'Starting'],
    [
      'waits with a problem for longer',
      { phase: 'Waiting', problem: 'x' },
      undefined,
      { ...OLD, ageMs: GRACE_MS + 1 },
      'Broken',
    ],
    ['crashed a moment ago', CRASHED, CURRENT, OLD, 'Absent'],
    ['is down, and has not reported for long', CRASHED, OUTDATED, OLD, 'Broken'],
    ['is down since before this server', CRASHED, RESTORED, { ...OLD, upMs: 0 }, 'Broken'],
    ['never ran, and is new', CRASHED, undefined, { ...OLD, ageMs: GRACE_MS }, 'Starting'],
    ['reports', { phase: 'Running' }, CURRENT, OLD, 'Reporting'],
    ['reports, although its last run was short', LOOPS, CURRENT, { ...OLD, runsMs: 0 }, 'Reporting'],
    ['runs for a moment between two crashes', LOOPS, OUTDATED, { ...OLD, runsMs: 0 }, 'Broken'],
    ['crashed once in its first moments', LOOPS, undefined, { ...OLD, ageMs: 9_000, runsMs: 0 }, 'Starting'],
    ['ran for long before', { ...LOOPS, lastRunMs: GRACE_MS }, OUTDATED, { ...OLD, runsMs: 1 }, 'Starting'],
    [
      'was silent before it was restarted',
      { ...LOOPS, lastRunMs: GRACE_MS },
      OUTDATED,
      { ...OLD, runsMs: 0 },
      'Silent',
    ],
    ['runs for long since', LOOPS, OUTDATED, OLD, 'Silent'],
    ['runs, and the server is new', { phase: 'Running' }, RESTORED, { ...OLD, upMs: 0 }, 'Starting'],
    ['runs, and has just started', { phase: 'Running' }, OUTDATED, { ...OLD, runsMs: GRACE_MS - 1 }, 'Starting'],
    ['runs, and does not report', { phase: 'Running' }, OUTDATED, { ...OLD, runsMs: GRACE_MS }, 'Silent'],
  ] as const)('of a pod that %s', (_, pod, last, time, state) => {
    expect(agentState(pod, last, time)).toBe(state);
  });
});
