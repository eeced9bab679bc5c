import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../client/resource.ts';
import { isOwnedBy } from './owner.ts';

const OWNER = { labels: { program: 'ours', stack: 'a' }, distinguishing: ['stack'] };
const APPLIED = { 'traffic.example.com/applied-hash': 'x' };

function controlledBy(uid: string): object {
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Stack', name: uid, uid, controller: true }] };
}

interface Row {
  readonly why: string;
  readonly metadata: object;
  readonly desired?: KubeObject;
  readonly ours: boolean;
}

const rows: readonly Row[] = [
  { why: 'all labels of the owner', metadata: { labels: OWNER.labels }, ours: true },
  { why: 'some of them', metadata: { labels: { program: 'ours' } }, ours: false },
  { why: 'none', metadata: {}, ours: false },
  { why: 'the mark of our apply, its labels taken off', metadata: { annotations: APPLIED }, ours: true },
  {
    why: 'the mark of our apply, and a label that somebody changed',
    metadata: { annotations: APPLIED, labels: { ...OWNER.labels, program: 'other' } },
    ours: true,
  },
  {
    why: 'the mark of our apply, and the label of another set',
    metadata: { annotations: APPLIED, labels: { ...OWNER.labels, stack: 'b' } },
    ours: false,
  },
  { why: 'a controller of its own', metadata: { labels: OWNER.labels, ...controlledBy('other') }, ours: false },
  {
    why: 'the controller that we gave it',
    metadata: { labels: OWNER.labels, ...controlledBy('stack') },
    desired: { metadata: controlledBy('stack') },
    ours: true,
  },
  {
    why: 'another controller than we gave it',
    metadata: { labels: OWNER.labels, ...controlledBy('other') },
    desired: { metadata: controlledBy('stack') },
    ours: false,
  },
];

describe('isOwnedBy', () => {
  it.each(rows)('an object with $why: $ours', ({ metadata, desired, ours }) => {
    expect(isOwnedBy(OWNER, { metadata }, desired)).toBe(ours);
  });
});
