import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { electsLeader, isOverdue, isStillRunning } from './whileStopped.ts';

const DELETED = { deletionTimestamp: new Date('2026-01-01T00:00:15Z'), deletionGracePeriodSeconds: 15 };

const podOf = (phase: string, metadata: V1Pod['metadata'] = {}): V1Pod => ({ metadata, status: { phase } });
const nodeOf = (ready?: string): V1Node => ({
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
});

describe('isOverdue', () => {
  it.each([
    ['a pod that is not being deleted is never overdue', {}, 3_600, false],
    ['a pod may end within its grace period', DELETED, 15, false],
    ['the kubelet has 5 s to report the end', DELETED, 19.9, false],
    ['a pod is overdue 5 s after its grace period', DELETED, 20, true],
    ['the default grace period is 30 s', { deletionTimestamp: DELETED.deletionTimestamp }, 34.9, false],
    ['a pod is overdue 5 s after the default', { deletionTimestamp: DELETED.deletionTimestamp }, 35, true],
  ])('%s', (_, metadata, seconds, overdue) => {
    expect(isOverdue(podOf('Running', metadata), seconds * 1000)).toBe(overdue);
  });
});

describe('isStillRunning', () => {
  const overdue = 60_000;
  const terminating = podOf('Running', DELETED);

  it.each([
    ['has ended', podOf('Succeeded'), nodeOf('True'), 0, false],
    ['has failed', podOf('Failed'), nodeOf('True'), 0, false],
    ['runs', podOf('Running'), nodeOf('True'), 0, true],
    ['is on a dead node, but is not being deleted yet', podOf('Running'), nodeOf('Unknown'), 0, true],
    ['is within its grace period', terminating, nodeOf('Unknown'), 15_000, true],
    ['is overdue on a Ready node, whose kubelet will end it', terminating, nodeOf('True'), overdue, true],
    ['is overdue on a node whose Ready is Unknown', terminating, nodeOf('Unknown'), overdue, false],
    ['is overdue on a node whose Ready is False', terminating, nodeOf('False'), overdue, false],
    ['is overdue on a node without conditions', terminating, nodeOf(), overdue, false],
    ['is overdue, and its Node does not exist', terminating, undefined, overdue, false],
  ])('a pod that %s', (_, pod, node, terminatingForMs, running) => {
    expect(isStillRunning(pod, node, terminatingForMs)).toBe(running);
  });
});

describe('electsLeader', () => {
  it.each([
    [['manager', '--leader-elect'], true],
    [['manager', '--leader-elect=true'], true],
    [['manager'], false],
    [['manager', '--leader-elect', '--leader-elect=false'], false],
  ])('%j', (args, elects) => {
    const template = { spec: { containers: [{ name: 'manager', args }] } };
    expect(electsLeader({ spec: { selector: {}, template } })).toBe(elects);
  });
});
