import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { reconcile } from '../reconcile.ts';
import { trimFailedPod, watchKeyOf } from './rejectedPods.ts';
import { KEY, NOW } from '../testing/observations.ts';
import { aNode, aScene, type Scene } from '../testing/scene.ts';

const FAILED_AT = NOW - 2000;

/** A rejected pod as a kubelet of Kubernetes 1.36 leaves it. */
function rejected(name: string, changes: { reason?: string; replicaSet?: string; hash?: string } = {}): V1Pod {
  const { reason = 'NodeAffinity', replicaSet = 'web-d879c9fb8', hash = 'd879c9fb8' } = changes;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: replicaSet, uid: 'uid-rs', controller: true };
  const labels = { app: 'web', 'pod-template-hash': hash };
  const message = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
  const failed = { type: 'Ready', status: 'False', reason: 'PodFailed', lastTransitionTime: new Date(FAILED_AT) };
  return {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7', labels, ownerReferences: [owner] },
    spec: { nodeName: 'n2', containers: [] },
    status: { phase: 'Failed', reason, message, conditions: [failed] },
  };
}

describe('trimFailedPod', () => {
  it('keeps the Deployment, the node and the time of a rejected pod', () => {
    expect(trimFailedPod(rejected('web-1'))).toEqual({
      metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-web-1', resourceVersion: '7' },
      deployment: 'shop/web',
      node: 'n2',
      failedAt: FAILED_AT,
    });
  });

  it.each([
    ['failed for another reason', { reason: 'Evicted' }],
    ['belongs to a ReplicaSet without a Deployment', { replicaSet: 'web' }],
    ['has no label pod-template-hash', { hash: '' }],
  ])('keeps only the metadata of a pod that %s', (_, changes) => {
    expect(Object.keys(trimFailedPod(rejected('web-1', changes)))).toEqual(['metadata']);
  });
});

describe('watchKeyOf', () => {
  it('is the key of the TrafficWatch, undefined if the Deployment has none', () => {
    const { watches } = aScene();
    expect(watchKeyOf(trimFailedPod(rejected('web-1')), watches)).toBe('shop/web');
    const other = rejected('api-1', { replicaSet: 'api-d879c9fb8' });
    expect(watchKeyOf(trimFailedPod(other), watches)).toBeUndefined();
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
