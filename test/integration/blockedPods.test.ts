import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PODS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import {
  aPod,
  aStatefulSet,
  condition,
  giveRoom,
  keyOfWatch,
  notUnfit,
  required,
  startControllers,
  STATEFULSETS,
  untilInjected,
  WAIT,
} from './injection/world.ts';

/** Pods that find no node: a real API server with the policy, a real StatefulSet controller and scheduler. */
const NODES = ['n1', 'n2'];
const REPLICAS = 4;
const podSelector = { matchLabels: { app: 'db' } };

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  c = connect(f.controlPlane);
  await giveRoom(f, NODES);
  controllers = await startControllers(f);
  await installPlacementPolicy(f.client);
  for (const node of NODES) f.exporter.setPercent(node, 60);
  await f.startOperator();
  await f.createWatch('db', { maxBandwidthPercent: '10', placement: 'Required', podSelector });
  await f.createWatch('cache', { maxBandwidthPercent: '10', podSelector: { matchLabels: { app: 'cache' } } });
});
afterAll(async () => {
  for (const each of controllers) await each.stop();
  await c.transport.close();
  await f.stop();
});

async function blockedPods(name: string) {
  return (await f.watch(name)).status?.blockedPods;
}

/** Makes the pod look as if the scheduler had found no node for it two minutes ago. */
async function waitedForLong(name: string): Promise<void> {
  const ref = { namespace: 'default', name };
  const { status } = await f.client.get(PODS, ref);
  const lastTransitionTime = new Date(Date.now() - 120_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = status?.conditions?.map((each) =>
    each.type === 'PodScheduled' ? { ...each, lastTransitionTime } : each,
  );
  await f.client.mergePatch(PODS, ref, { status: { conditions } }, { fieldManager: 'person', subresource: 'status' });
}

describe('while every node is unfit', () => {
  it('status.blockedPods counts the pods of the workload, and names three', async () => {
    await untilInjected(f, c, 'db', 'db');
    await vi.waitFor(async () => {
      expect(await f.labels(keyOfWatch('db'))).toEqual({ n1: 'true', n2: 'true' });
    }, WAIT);
    // Waits too, but does not belong to the workload.
    await f.client.create(PODS, aPod('other', { app: 'other' }, { nodeSelector: { disk: 'ssd' } }));
    // Belongs to the workload, but the scheduler does not try it.
    await f.client.create(PODS, aPod('db-gated', { app: 'db' }, { schedulingGates: [{ name: 'example.com/wait' }] }));
    await f.client.create(STATEFULSETS, aStatefulSet('db', REPLICAS));
    await vi.waitFor(async () => {
      expect(await blockedPods('db')).toEqual({ count: REPLICAS, names: ['db-0', 'db-1', 'db-2'] });
    }, WAIT);
  });

  it('the condition NoFitNode is True once a pod has waited for 60 s, with an event', async () => {
    await waitedForLong('db-1');
    await vi.waitFor(async () => {
      expect(await condition(f, 'db', 'NoFitNode')).toMatchObject({ status: 'True', reason: 'PodsBlocked' });
    }, WAIT);
    await vi.waitFor(async () => {
      const events = await f.events('db');
      expect(events.map(({ type, reason }) => [type, reason])).toContainEqual(['Warning', 'PodsBlocked']);
    }, WAIT);
  });

  it('pods with Preferred are never blocked', async () => {
    const running = aPod('cache-0', { app: 'cache' });
    await f.client.create(PODS, running);
    await vi.waitFor(async () => {
      const { spec } = await f.client.get(PODS, { namespace: 'default', name: 'cache-0' });
      expect(NODES).toContain(spec?.nodeName);
    }, WAIT);
    expect(await condition(f, 'cache', 'NoFitNode')).toBeUndefined();
    expect(await blockedPods('cache')).toBeUndefined();
  });
});

describe('when a node is fit again', () => {
  it('the pods find it, and nothing is blocked', async () => {
    f.exporter.setPercent('n2', 1);
    await vi.waitFor(async () => {
      const pods = await f.client.list(PODS, { namespace: 'default', labelSelector: 'app=db' });
      const nodes = pods.filter(({ metadata }) => metadata?.name !== 'db-gated').map(({ spec }) => spec?.nodeName);
      expect(nodes).toEqual(Array.from({ length: REPLICAS }, () => 'n2'));
    }, WAIT);
    await vi.waitFor(async () => {
      expect(await blockedPods('db')).toBeUndefined();
      expect(await condition(f, 'db', 'NoFitNode')).toMatchObject({ status: 'False', reason: 'NoPodBlocked' });
    }, WAIT);
  });
});

describe('a pod of the selected workload that a restarted kubelet rejects on an unfit node', () => {
  /** There are no kubelets here: writes what a kubelet of Kubernetes 1.36 writes. */
  async function reject(name: string): Promise<void> {
    const status = {
      phase: 'Failed',
      reason: 'NodeAffinity',
      message: 'Pod was rejected: Predicate NodeAffinity failed',
    };
    const ref = { namespace: 'default', name };
    await f.client.mergePatch(PODS, ref, { status }, { fieldManager: 'person', subresource: 'status' });
  }

  it('is an event on the TrafficWatch', async () => {
    // The policy leaves a pod with a node alone: this one has the term as if it had been created without.
    const affinity = required([{ matchExpressions: [notUnfit('db')] }]);
    await f.client.create(PODS, aPod('db-rejected', { app: 'db' }, { nodeName: 'n1', affinity }));
    await reject('db-rejected');
    await vi.waitFor(async () => {
      const found = (await f.events('db')).find(({ reason }) => reason === 'PodsRejected');
      expect(found).toMatchObject({ type: 'Warning' });
      expect(found?.note).toMatch(/kubelet of node n1 .*rejected 1 pod, .*: db-rejected; /);
    }, WAIT);
    expect((await f.events('cache')).map(({ reason }) => reason)).not.toContain('PodsRejected');
  });
});
