import type { V1ObjectMeta } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { stackOf } from '../testing/stacks.ts';
import { isOfStack } from './objects.ts';

const stack = stackOf([]);
const { name = '', uid = '' } = stack.metadata ?? {};
const leaving = { ...stack, metadata: { ...stack.metadata, deletionTimestamp: new Date(0) } };
const LABELS = { 'traffic.example.com/stack': name };
const HASH = { 'traffic.example.com/applied-hash': 'x' };
const owner = (of: string, controller = true) => ({ apiVersion: 'v1', kind: 'X', name: 'x', uid: of, controller });

it.each<[string, V1ObjectMeta, boolean, boolean]>([
  ['is controlled by it', { ownerReferences: [owner(uid)] }, true, true],
  [
    'is controlled by another stack',
    { ownerReferences: [owner('y')], labels: LABELS, annotations: HASH },
    false,
    false,
  ],
  ['has lost its owner reference', { labels: LABELS, annotations: HASH }, true, false],
  [
    'has lost it, and somebody refers to it',
    { ownerReferences: [owner('y', false)], labels: LABELS, annotations: HASH },
    true,
    false,
  ],
  [
    'has the labels of another stack',
    { labels: { ...LABELS, 'traffic.example.com/stack': 'b' }, annotations: HASH },
    false,
    false,
  ],
  ['has the labels, and was not applied', { labels: LABELS }, false, false],
  ['has nothing of it', {}, false, false],
])(
  'an object is of a stack that stays, and of one that is being deleted, or not: it %s',
  (_, metadata, stays, leaves) => {
    expect([isOfStack({ metadata }, stack), isOfStack({ metadata }, leaving)]).toEqual([stays, leaves]);
  },
);
