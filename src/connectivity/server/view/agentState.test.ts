import { describe, expect, it } from 'vitest';
import type { AgentPod } from '../pods/agentPod.ts';
import { agentState, countSilent, graceMs, type AgentTime, type SilenceInput } from './agentState.ts';

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

describe('silent agents', () => {
  const NOW = 100_000_000;
  const HOUR_MS = 3_600_000;

  const pod = (change: Partial<AgentPod> = {}): AgentPod => ({
    name: 'a',
    node: 'n1',
    place: 'n1',
    plane: 'Pod',
    addresses: ['10.0.0.1'],
    phase: 'Running',
    createdAt: NOW - 24 * HOUR_MS,
    startedAt: NOW - 24 * HOUR_MS,
    mustReport: true,
    isListed: true,
    ...change,
  });
  const input = (change: Partial<SilenceInput> = {}): SilenceInput => ({
    reportOf: () => undefined,
    isLeftOut: () => false,
    intervalMs: 15_000,
    ageOf: ({ createdAt, startedAt }) => ({ ageMs: NOW - createdAt, runsMs: NOW - startedAt }),
    upMs: 24 * HOUR_MS,
    ...change,
  });
  const report = (ageMs: number, intervalMs: number, isRestored = false) => ({
    reportOf: () => ({ ageMs, intervalMs, isRestored }),
  });

  it.each<[why: string, AgentPod, SilenceInput, silent: number]>([
    ['it reported within two intervals of 5 s', pod(), input(report(9_000, 5_000)), 0],
    ['it missed two intervals of 5 s', pod(), input(report(11_000, 5_000)), 1],
    ['it reported within two intervals of an hour', pod(), input(report(1.9 * HOUR_MS, HOUR_MS)), 0],
    ['it missed two intervals of an hour', pod(), input(report(2.1 * HOUR_MS, HOUR_MS)), 1],
    ['it never reported', pod(), input(), 1],
    ['its report comes from a store', pod(), input(report(0, 5_000, true)), 1],
    ['its pod replaced another a minute ago', pod({ startedAt: NOW - 60_000 }), input(), 0],
    [
      'its container was started again ten minutes ago, at an interval of an hour',
      pod({ startedAt: NOW - 600_000 }),
      input(report(2.1 * HOUR_MS, HOUR_MS)),
      0,
    ],
    ['the server started a minute ago', pod(), input({ upMs: 60_000 }), 0],
    ['an agent without a report may take two intervals', pod(), input({ intervalMs: 48 * HOUR_MS }), 0],
    ['its pod waits for an image', pod({ phase: 'Waiting', createdAt: NOW - 60_000 }), input(), 0],
    ['its pod waits for an image for an hour', pod({ phase: 'Waiting', createdAt: NOW - HOUR_MS }), input(), 1],
    ['its container ended', pod({ phase: 'Stopped' }), input(), 1],
    ['its pod is being deleted', pod({ phase: 'Gone' }), input(), 0],
    ['its node is left out', pod(), input({ isLeftOut: (node) => node === 'n1' }), 0],
    ['another node is left out', pod(), input({ isLeftOut: (node) => node === 'n2' }), 1],
  ])('%s', (_why, agent, o, silent) => {
    expect(countSilent([agent], o)).toEqual({ Pod: silent, Host: 0 });
  });

  it('counts each plane', () => {
    const host = pod({ name: 'b', plane: 'Host' });
    expect(countSilent([pod(), host, { ...host, name: 'c' }], input())).toEqual({ Pod: 1, Host: 2 });
  });
});
