import { expect, it } from 'vitest';
import type { AgentPod } from '../pods/agentPod.ts';
import { countSilent, type SilenceInput } from './silentAgents.ts';

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
  now: NOW,
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
