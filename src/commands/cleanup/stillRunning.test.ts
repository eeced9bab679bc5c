import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { electsLeader, isOverdue, isStillRunning } from './stillRunning.ts';

const DELETED = { deletionTimestamp: new Date('2026-01-01T00:00:15Z'), deletionGracePeriodSeconds: 15 };

const podOf = (phase: string, metadata: V1Pod['metadata'] = {}): V1Pod => ({ metadata, status: { phase } });
const nodeOf = (ready?: string): V1Node => ({
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
});

describe('isOverdue', () => {
  it.each([
    ['a pod that nobody deletes may run for ever', {}, 3_600, false],
    ['a kubelet ends it within its grace period', DELETED, 15, false],
    ['a kubelet kills it, and takes a moment to say so', DELETED, 19.9, false],
    ['no kubelet that works takes longer', DELETED, 20, true],
    ['30 s where the pod says nothing else', { deletionTimestamp: DELETED.deletionTimestamp }, 34.9, false],
    ['30 s and the moment', { deletionTimestamp: DELETED.deletionTimestamp }, 35, true],
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
    ['runs on a node that is switched off, and is not deleted yet', podOf('Running'), nodeOf('Unknown'), 0, true],
    ['may still end in its grace period', terminating, nodeOf('Unknown'), 15_000, true],
    ['takes long on a node whose kubelet will end it', terminating, nodeOf('True'), overdue, true],
    ['is on a node whose kubelet is heard of no more', terminating, nodeOf('Unknown'), overdue, false],
    ['is on a node whose runtime does not answer its kubelet', terminating, nodeOf('False'), overdue, false],
    ['is on a node that no kubelet has ever told of', terminating, nodeOf(), overdue, false],
    ['is on a node that is gone', terminating, undefined, overdue, false],
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
