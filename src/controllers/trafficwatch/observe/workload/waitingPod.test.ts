import type { V1NodeSelectorTerm, V1Pod, V1PodCondition } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { BodyBudget } from '../../../../runtime/cache/bodyBudget.ts';
import { BY_NAMESPACE } from '../../names.ts';
import { identityOfWaitingPod, trimWaitingPod, waitingPodIndexes } from './waitingPods.ts';

const KEY = 'db.traffic.example.com/unfit';
const OTHER = 'cache.traffic.example.com/unfit';
const notUnfit = (key = KEY) => ({ key, operator: 'NotIn', values: ['true'] });
const TEMPLATE = { key: 'cluster-autoscaler.kubernetes.io/template-node', operator: 'In', values: ['true'] };
const disk = { key: 'disk', operator: 'In', values: ['ssd'] };
const term = (...matchExpressions: V1NodeSelectorTerm['matchExpressions'] & object): V1NodeSelectorTerm => ({
  matchExpressions,
});

/** As kube-scheduler 1.36 writes it. */
const UNSCHEDULABLE: V1PodCondition = {
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message:
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, " +
    'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  lastTransitionTime: new Date('2026-01-01T00:01:00Z'),
};

function aPod(nodeSelectorTerms: V1NodeSelectorTerm[], condition: Partial<V1PodCondition> | null = {}): V1Pod {
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return {
    metadata: {
      name: 'db-0',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: '7',
      labels: { app: 'db' },
      annotations: { large: 'x' },
      creationTimestamp: new Date('2026-01-01T00:00:00Z'),
    },
    spec: { containers: [{ name: 'main' }], affinity: { nodeAffinity } },
    status: { phase: 'Pending', conditions: condition === null ? [] : [{ ...UNSCHEDULABLE, ...condition }] },
  };
}

const named: V1NodeSelectorTerm = { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] };
const OURS = [term(notUnfit()), term(TEMPLATE)];

describe('trimWaitingPod', () => {
  it('keeps what a decision uses of a pod that found no node', () => {
    expect(trimWaitingPod(aPod(OURS))).toEqual({
      metadata: { name: 'db-0', namespace: 'shop', uid: 'u', resourceVersion: '7' },
      waiting: { name: 'db-0', labels: { app: 'db' }, keys: [KEY], since: Date.parse('2026-01-01T00:01:00Z') },
    });
  });

  it('takes linear time for as many terms and keys as a pod has room for', () => {
    const keys = Array.from({ length: 100_000 }, (_, n) => notUnfit(`a${n}.traffic.example.com/unfit`));
    const terms = [...keys.map(() => named), term(...keys), term(notUnfit())];
    expect(trimWaitingPod(aPod(terms)).waiting).toBeUndefined();
    expect(trimWaitingPod(aPod(terms.slice(0, -1))).waiting?.keys).toHaveLength(100_000);
  });

  it('takes the creation time where the condition has no time', () => {
    const { waiting } = trimWaitingPod(aPod(OURS, { lastTransitionTime: undefined }));
    expect(waiting?.since).toBe(Date.parse('2026-01-01T00:00:00Z'));
  });

  it.each<[string, V1Pod]>([
    ['the scheduler has not tried yet', aPod(OURS, null)],
    ['the pod is gated', aPod(OURS, { reason: 'SchedulingGated', message: 'Scheduling is blocked' })],
    ['it has a node', aPod(OURS, { status: 'True', reason: '', message: '' })],
    ['only resources are missing', aPod(OURS, { message: '0/2 nodes are available: 2 Insufficient cpu.' })],
    ['it has no terms', aPod([])],
    ['it excludes nodes by name of its own', aPod([named])],
    [
      'it may run on one named node',
      aPod([{ matchFields: [{ ...named.matchFields![0]!, operator: 'In' }] }, term(notUnfit())]),
    ],
    ['it may run on any node with a disk', aPod([term(disk), term(notUnfit())])],
    ['no term matches a node that exists', aPod([term(TEMPLATE)])],
    ['the key is not of this operator', aPod([term(notUnfit('example.com/unfit'))])],
    ['it wants unfit nodes', aPod([term({ key: KEY, operator: 'In', values: ['true'] })])],
  ])('keeps only the metadata if %s', (_why, pod) => {
    expect(trimWaitingPod(pod)).toEqual({
      metadata: { name: 'db-0', namespace: 'shop', uid: 'u', resourceVersion: '7' },
    });
  });

  it.each<[string, V1NodeSelectorTerm[], string[]]>([
    ['terms of the user, each with a twin', [term(disk, notUnfit()), term(disk, TEMPLATE)], [KEY]],
    ['an empty term, which matches no node', [{}, term(notUnfit())], [KEY]],
    ['two TrafficWatches', [term(notUnfit(), notUnfit(OTHER)), term(TEMPLATE)], [KEY, OTHER]],
    ['AtCreation, whose terms name nodes or have the key', [named, term(notUnfit())], [KEY]],
    [
      'AtCreation of two TrafficWatches',
      [named, { ...named, ...term(notUnfit(OTHER)) }, term(notUnfit(), notUnfit(OTHER))],
      [OTHER, KEY],
    ],
    ['only keys of every term', [term(notUnfit(), notUnfit(OTHER)), term(notUnfit())], [KEY]],
  ])('finds the keys in %s', (_what, terms, keys) => {
    expect(trimWaitingPod(aPod(terms)).waiting?.keys).toEqual(keys);
  });

  it.each([
    ['may be blocked', aPod(OURS), ['shop']],
    ['has not been tried yet', aPod(OURS, null), []],
  ])('keeps nothing that a user writes if the namespace takes too much memory, but that a pod %s', (_, pod, index) => {
    const labels = { app: 'x'.repeat(1_000_000) };
    const fat = trimWaitingPod({ ...pod, metadata: { ...pod.metadata, labels, annotations: labels } });
    const kept = new BodyBudget(0).keep(fat, identityOfWaitingPod);
    expect(JSON.stringify(kept).length).toBeLessThan(200);
    expect(waitingPodIndexes[BY_NAMESPACE]?.(kept)).toEqual(index);
  });

  it('indexes only pods that found no node', () => {
    const valuesOf = (pod: V1Pod) => waitingPodIndexes[BY_NAMESPACE]?.(trimWaitingPod(pod));
    expect([valuesOf(aPod(OURS)), valuesOf(aPod(OURS, null))]).toEqual([['shop'], []]);
  });
});
