import { expect, it } from 'vitest';
import { terminatingConditions } from './terminating.ts';

const AT = Date.parse('2026-01-01T00:00:00Z');
const lastTransitionTime = '2025-01-01T00:00:00Z';
const live = (status: 'True' | 'False') => ({
  metadata: { name: 'web', generation: 2, finalizers: ['a.example.com/x', 'foregroundDeletion'] },
  status: {
    conditions: [
      { type: 'Ready', status, reason: 'Decided', message: '', lastTransitionTime },
      { type: 'Stalled', status: 'False' as const, reason: 'NotStalled', message: '', lastTransitionTime },
    ],
  },
});

it('changes only Ready, and names what the deletion waits for', () => {
  const ready = { type: 'Ready', status: 'False', reason: 'Terminating', observedGeneration: 2 };
  const message = 'being deleted: waiting for finalizers a.example.com/x, foregroundDeletion';
  const [, stalled] = live('True').status.conditions;
  expect(terminatingConditions(live('True'), AT)).toEqual([
    { ...ready, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
    stalled,
  ]);
  expect(terminatingConditions(live('False'), AT, 'busy')).toEqual([
    { ...ready, message: 'busy', lastTransitionTime },
    stalled,
  ]);
});
