import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { toAgentPod } from '../pods/agentPod.ts';
import { agentState, graceMs } from './agentState.ts';

const INTERVAL = 5_000;
const GRACE = graceMs(INTERVAL);
const LONG = 3_600_000;

/** Why, the phase, the age of the last report, since when the container runs, the state. */
const ROWS = [
  ['reports', 'Running', 9_000, LONG, 'Reporting'],
  ['missed two reports', 'Running', 11_000, LONG, 'Silent'],
  ['was restarted within two intervals of its last report', 'Running', 11_000, 2_000, 'Starting'],
  ['was restarted, and does not report after the grace', 'Running', GRACE + 9_000, GRACE + 1_000, 'Silent'],
  ['was silent for two intervals before it was restarted', 'Running', 14_000, 1_000, 'Silent'],
  ['crashed a moment ago', 'Stopped', 9_000, LONG, 'Absent'],
  ['crashed, and is not started again', 'Stopped', 11_000, LONG, 'Silent'],
  ['crashes from the start', 'Stopped', undefined, GRACE + 1, 'Silent'],
  ['is new', 'Running', undefined, 1_000, 'Starting'],
  ['is being deleted', 'Gone', 1_000, LONG, 'Absent'],
  ['waits for its image', 'Waiting', undefined, 60_000, 'Starting'],
  ['waits for very long', 'Waiting', undefined, LONG, 'Absent'],
] as const;

describe('the state of an agent', () => {
  it.each(ROWS)('that %s', (_, phase, ageMs, runsMs, state) => {
    const report = ageMs === undefined ? undefined : { ageMs, intervalMs: INTERVAL };
    expect(agentState({ phase }, report, { runsMs, graceMs: GRACE })).toBe(state);
  });
});

describe('the pod of an agent', () => {
  const running = { state: { running: { startedAt: new Date('2026-01-01T00:00:10Z') } } };
  const waiting = { state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const pod = (status: object, metadata: object = {}): V1Pod => ({
    metadata: { creationTimestamp: new Date('2026-01-01T00:00:00Z'), ...metadata },
    status,
  });

  it.each([
    ['Running', pod({ phase: 'Running', containerStatuses: [running] })],
    ['Running', pod({ phase: 'Running' })],
    ['Stopped', pod({ phase: 'Running', containerStatuses: [waiting] })],
    ['Waiting', pod({ phase: 'Pending', containerStatuses: [waiting] })],
    ['Gone', pod({ phase: 'Failed' })],
    ['Gone', pod({ phase: 'Running', containerStatuses: [waiting] }, { deletionTimestamp: new Date() })],
  ])('is %s', (phase, given) => {
    expect(toAgentPod(given).phase).toBe(phase);
  });
});
