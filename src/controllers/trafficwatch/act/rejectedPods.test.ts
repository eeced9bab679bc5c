import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { PODS } from '../../../runtime/client/resources.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { watchesOf } from '../../../runtime/testing/fakeApi/watches.ts';
import { BY_LABEL_KEY } from '../names.ts';
import { reconcile } from '../reconcile.ts';
import { createFailedPodInformer, trimFailedPod, watchKeysOf } from './rejectedPods.ts';
import { aForeignWatch, aWatch, KEY, NOW } from '../testing/observations.ts';
import { aNode, aScene, type Scene } from '../testing/scene.ts';

const FAILED_AT = NOW - 2000;

interface PodChanges {
  reason?: string;
  namespace?: string;
  labels?: Record<string, string>;
  /** One for each term of the required affinity. */
  keys?: readonly string[];
}

/** A rejected pod as a kubelet of Kubernetes 1.36 leaves it. */
function rejected(name: string, changes: PodChanges = {}): V1Pod {
  const { reason = 'NodeAffinity', namespace = 'shop', labels = { app: 'web' }, keys = [KEY] } = changes;
  const message = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
  const failed = { type: 'Ready', status: 'False', reason: 'PodFailed', lastTransitionTime: new Date(FAILED_AT) };
  const terms = keys.map((key) => ({ matchExpressions: [{ key, operator: 'NotIn', values: ['true'] }] }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  return {
    metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: '7', labels },
    spec: { nodeName: 'n2', containers: [], affinity: { nodeAffinity: required } },
    status: { phase: 'Failed', reason, message, conditions: [failed] },
  };
}

describe('trimFailedPod', () => {
  it('keeps the labels, the required keys, the node and the time of a rejected pod', () => {
    expect(trimFailedPod(rejected('web-1'))).toEqual({
      metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-web-1', resourceVersion: '7' },
      rejected: { labels: { app: 'web' }, keys: [KEY], node: 'n2', failedAt: FAILED_AT },
    });
  });

  it.each([
    ['failed for another reason', { reason: 'Evicted' }],
    ['was rejected for an affinity of its own', { keys: ['zone'] }],
    ['was not excluded by all of its terms', { keys: [KEY, 'zone'] }],
  ])('keeps only the metadata of a pod that %s', (_, changes) => {
    expect(Object.keys(trimFailedPod(rejected('web-1', changes)))).toEqual(['metadata']);
  });
});

it('the informer keeps at most 8 MiB of the failed pods of a namespace', async () => {
  const labels = { app: 'x'.repeat(1_000_000) };
  const pods = Array.from({ length: 10 }, (_, n) => ({ kind: 'Pod', ...rejected(`web-${n}`, { labels }) }));
  const transport = watchesOf(new FakeApi(...pods), [PODS]);
  const informer = createFailedPodInformer({ transport, logger: createLogger('silent') });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await informer.whenSynced();
  const kept = informer.lister.list();
  expect([kept.length, kept.filter((pod) => pod.rejected !== undefined).length]).toEqual([10, 8]);
  expect(JSON.stringify(kept).length).toBeLessThan(8 * 1024 ** 2 + 10_000);
  stop.abort();
  await running;
});

describe('watchKeysOf', () => {
  it('are the keys of the TrafficWatches in its namespace whose label it requires', () => {
    const { watches } = aScene();
    const keysOf = (changes: PodChanges): string[] =>
      watchKeysOf(trimFailedPod(rejected('web-1', changes)), (key) => watches.byIndex(BY_LABEL_KEY, key));
    expect(keysOf({})).toEqual(['shop/web']);
    expect(keysOf({ namespace: 'other' })).toEqual([]);
    expect(keysOf({ keys: ['api.traffic.example.com/unfit'] })).toEqual([]);
  });
});

describe('PodRejections', () => {
  const told = (scene: Scene): number => scene.told.filter(([, reason]) => reason === 'PodsRejected').length;
  const aSceneWithRejection = (label: string): Scene => {
    const scene = aScene();
    scene.nodes.set(aNode('n2', { [KEY]: label }, [KEY]));
    scene.failedPods.set(trimFailedPod(rejected('web-1')));
    return scene;
  };

  it('emit one event for a pod that a kubelet rejected on an unfit node', async () => {
    const scene = aSceneWithRejection('true');
    await reconcile(scene, 'shop/web');
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(1);
    scene.failedPods.set(trimFailedPod(rejected('web-2')));
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(2);
  });

  it.each<[string, PodChanges, number]>([
    ['of the selected pods', { labels: { app: 'db', tier: 'x' } }, 1],
    ['not of others', { labels: { app: 'web' } }, 0],
    ['not of another namespace', { labels: { app: 'db' }, namespace: 'other' }, 0],
  ])('emit an event for a workload of others: %s', async (_, changes, count) => {
    const scene = aSceneWithRejection('true');
    scene.watches.set(aForeignWatch({ podSelector: { matchLabels: { app: 'db' } } }, { placement: 'Required' }));
    scene.failedPods.set(trimFailedPod(rejected('db-1', changes)));
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(count);
  });

  it.each([
    [100, 1],
    [101, 0],
  ])('for a selector with %d requirements emit %d events: each is compared with each pod', async (count, events) => {
    const matchExpressions = Array.from({ length: count }, (_, n) => ({
      key: `a${n}`,
      operator: 'DoesNotExist' as const,
    }));
    const scene = aSceneWithRejection('true');
    scene.watches.set(aWatch({ deployment: { selector: { matchExpressions } } }));
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(events);
  });

  it('emit no event if the node is fit, or while another process leads', async () => {
    const fit = aSceneWithRejection('false');
    await reconcile(fit, 'shop/web');
    expect(told(fit)).toBe(0);
    const standby = aSceneWithRejection('true');
    standby.leader = false;
    await reconcile(standby, 'shop/web');
    expect(told(standby)).toBe(0);
    standby.leader = true;
    await reconcile(standby, 'shop/web');
    expect(told(standby)).toBe(1);
  });
});
