import type { V1Affinity } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { PODS } from '../../../../runtime/client/resources.ts';
import { createLogger } from '../../../../runtime/process/logger.ts';
import { FakeApi } from '../../../../runtime/testing/fakeApi/fakeApi.ts';
import { watchesOf } from '../../../../runtime/testing/fakeApi/watches.ts';
import { withFitNodesPreferred } from '../../model/affinity.ts';
import { BY_LABEL_KEY } from '../../names.ts';
import { ENDED_AT, evictedPod, rejectedPod, type PodChanges } from '../../testing/endedPods.ts';
import { KEY } from '../../testing/observations.ts';
import { aScene } from '../../testing/scene.ts';
import { createEndedPodInformer, trimEndedPod, wasLost, watchKeysOf, type EndedPod } from './endedPods.ts';

const LOST = { labels: { app: 'web' }, keys: [KEY], node: 'n2', endedAt: ENDED_AT };

/** Pods of AtCreation exclude nodes by name; another term allows nodes that are fit again. */
const AT_CREATION: V1Affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] },
        { matchExpressions: [{ key: KEY, operator: 'NotIn', values: ['true'] }] },
      ],
    },
  },
};

describe('trimEndedPod', () => {
  it('keeps the labels, the required keys, the node and the time of a rejected pod', () => {
    expect(trimEndedPod(rejectedPod('web-1'))).toEqual({
      metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-web-1', resourceVersion: '7' },
      rejected: LOST,
    });
  });

  it.each([
    ['failed for another reason', { reason: 'Evicted' }],
    ['was rejected for an affinity of its own', { keys: ['zone'] }],
    ['was not excluded by all of its terms', { keys: [KEY, 'zone'] }],
  ])('keeps only the metadata of a pod that %s', (_, changes) => {
    expect(Object.keys(trimEndedPod(rejectedPod('web-1', changes)))).toEqual(['metadata']);
  });

  it.each([
    ['whose containers failed', {}],
    ['whose containers ended well', { phase: 'Succeeded' as const }],
    ['that only prefers fit nodes', { affinity: withFitNodesPreferred(undefined, KEY) }],
    ['of AtCreation', { affinity: AT_CREATION }],
  ])('keeps the same of an evicted pod %s', (_, changes) => {
    expect(trimEndedPod(evictedPod('web-1', changes)).evicted).toEqual(LOST);
  });

  it.each([
    ['was disrupted otherwise', { reason: 'PreemptionByScheduler' }],
    ['has no term of the operator', { keys: ['zone'] }],
    ['has no affinity', { affinity: {} }],
  ])('keeps only the metadata of a pod that %s', (_, changes) => {
    expect(Object.keys(trimEndedPod(evictedPod('web-1', changes)))).toEqual(['metadata']);
  });
});

describe('the informer', () => {
  async function keptOf(...pods: object[]): Promise<readonly EndedPod[]> {
    const transport = watchesOf(new FakeApi(...pods), [PODS]);
    const informer = createEndedPodInformer({ transport, logger: createLogger('silent') });
    const stop = new AbortController();
    const running = informer.run(stop.signal);
    await informer.whenSynced();
    const kept = informer.lister.list();
    stop.abort();
    await running;
    return kept;
  }

  it('has pods that have ended, and none that runs or waits', async () => {
    const pods = ['Pending', 'Running', 'Succeeded', 'Failed'].map((phase) => {
      const pod = evictedPod(phase.toLowerCase());
      return { kind: 'Pod', ...pod, status: { ...pod.status, phase } };
    });
    expect((await keptOf(...pods)).map(({ metadata }) => metadata?.name)).toEqual(['succeeded', 'failed']);
  });

  it('keeps at most 8 MiB of the ended pods of a namespace', async () => {
    const labels = { app: 'x'.repeat(1_000_000) };
    const pods = Array.from({ length: 10 }, (_, n) => ({ kind: 'Pod', ...rejectedPod(`web-${n}`, { labels }) }));
    const kept = await keptOf(...pods);
    expect([kept.length, kept.filter((pod) => pod.rejected !== undefined).length]).toEqual([10, 8]);
    expect(JSON.stringify(kept).length).toBeLessThan(8 * 1024 ** 2 + 10_000);
  });
});

describe('watchKeysOf', () => {
  it.each([rejectedPod, evictedPod])('are the TrafficWatches in its namespace that claim a key of it: %o', (aPod) => {
    const { watches } = aScene();
    const keysOf = (changes: PodChanges): string[] =>
      watchKeysOf(trimEndedPod(aPod('web-1', changes)), (key) => watches.byIndex(BY_LABEL_KEY, key));
    expect(keysOf({})).toEqual(['shop/web']);
    expect(keysOf({ namespace: 'other' })).toEqual([]);
    expect(keysOf({ keys: ['api.traffic.example.com/unfit'] })).toEqual([]);
  });
});

it('a pod was lost before if only something else of it changes', () => {
  const [web, again] = [rejectedPod('web-1'), rejectedPod('web-1')].map(trimEndedPod);
  const other = { ...again!, metadata: { ...again!.metadata, uid: 'another' } };
  expect(wasLost({ type: 'add', object: web! })).toBe(false);
  expect(wasLost({ type: 'update', object: web!, old: { metadata: web!.metadata } })).toBe(false);
  expect(wasLost({ type: 'update', object: again!, old: web! })).toBe(true);
  expect(wasLost({ type: 'update', object: other, old: web! })).toBe(false);
});
