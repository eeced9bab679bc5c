import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { NODES, PODS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import {
  aPod,
  aStatefulSet,
  condition,
  giveRoom,
  NEW_NODE,
  notUnfit,
  required,
  requiredTermsOf,
  startControllers,
  STATEFULSETS,
  untilInjected,
  WAIT,
} from './injection/world.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Pods that find no node: a real API server with the policy, a real StatefulSet controller and scheduler. In the end, the twin of a
 * required term, with the scheduler that cluster-autoscaler calls in its simulation: there is a template that was copied from an unfit node.
 */
const WORKERS = ['n1', 'n2'];
const MANY = 10;
const REPLICAS = 4;
const podSelector = { matchLabels: { app: 'db' } };

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: WORKERS });
  c = connect(f.controlPlane);
  await giveRoom(f, WORKERS);
  controllers = await startControllers(f);
  await installPlacementPolicy(f.client);
  for (const node of WORKERS) f.exporter.setPercent(node, 60);
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
      expect(await f.labels(unfitKey('db'))).toEqual({ n1: 'true', n2: 'true' });
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
      expect(WORKERS).toContain(spec?.nodeName);
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

/** Without the label of newer releases, until a test adds it. */
let template: string;

/**
 * Adds the Node that cluster-autoscaler builds from a real one: another name, UID and hostname, all other labels copied
 * (createSanitizedNode in cluster-autoscaler/simulator/node_info_utils.go of kubernetes/autoscaler). It exists only in
 * the memory of cluster-autoscaler, never in a cluster; here the scheduler has to see it.
 */
async function addTemplateOf(real: string): Promise<string> {
  const name = 'template-node-for-workers-4321';
  const { metadata }: V1Node = await f.client.get(NODES, { name: real });
  const labels = { ...metadata?.labels, 'kubernetes.io/hostname': name };
  expect(labels).toMatchObject({ [unfitKey('db')]: 'true' });
  await f.client.create(NODES, { metadata: { name, labels } });
  await giveRoom(f, [name]);
  return name;
}

/** Since https://github.com/kubernetes/autoscaler/pull/9702; also merged into 1.33 and 1.34. */
const markTemplate = (): Promise<unknown> => f.setLabels(template, { [NEW_NODE.key]: 'true' });

const podOf = (name: string): Promise<V1Pod> => f.client.get(PODS, { namespace: 'default', name });

/** Creates pods of the TrafficWatch, to which the policy adds the term and its twin. */
async function createSelected(...names: string[]): Promise<void> {
  for (const name of names) await f.client.create(PODS, aPod(name, { app: 'db' }));
}

/** Creates a pod with the term that the condition InjectionUnavailable names, which has no twin. */
async function createByHand(name: string): Promise<void> {
  const affinity = required([{ matchExpressions: [notUnfit('db')] }]);
  await f.client.create(PODS, aPod(name, { app: 'by-hand' }, { affinity }));
}

/** The scheduler has looked at all nodes, and none matches the affinity of the pod. */
async function expectNoNode(name: string): Promise<void> {
  await vi.waitFor(async () => {
    const { spec, status } = await podOf(name);
    const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
    expect(scheduled).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    expect(scheduled?.message).toContain(
      "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector",
    );
    expect(spec).not.toHaveProperty('nodeName');
  }, WAIT);
}

describe('while every real node is unfit', () => {
  beforeAll(async () => {
    f.exporter.setPercent('n2', 60);
    await vi.waitFor(async () => expect(await f.labels(unfitKey('db'))).toEqual({ n1: 'true', n2: 'true' }), WAIT);
    // The rest is up to the API server and the scheduler.
    await f.stopOperator();
    template = await addTemplateOf('n1');
  });

  it('no node takes the pod, nor does the template of a release that does not mark it', async () => {
    await createSelected('new-0');
    expect(requiredTermsOf(await podOf('new-0'))).toEqual([
      { matchExpressions: [notUnfit('db')] },
      { matchExpressions: [NEW_NODE] },
    ]);
    await expectNoNode('new-0');
  });

  it('a marked template takes the pod, by its twin', async () => {
    await markTemplate();
    await vi.waitFor(async () => expect((await podOf('new-0')).spec?.nodeName).toBe(template), WAIT);
  });

  it('takes no pod without the twin: the autoscaler would add no node', async () => {
    await createByHand('by-hand');
    await expectNoNode('by-hand');
  });

  it('gains nothing for a real node: all pods are on the template', async () => {
    const names = Array.from({ length: MANY }, (_, n) => `new-${n + 1}`);
    await createSelected(...names);
    await vi.waitFor(async () => {
      const nodes = (await Promise.all(names.map(podOf))).map(({ spec }) => spec?.nodeName);
      expect(nodes).toEqual(names.map(() => template));
    }, WAIT);
  });
});
