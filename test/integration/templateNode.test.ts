import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NODES, PODS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import type { RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import {
  aPod,
  giveRoom,
  keyOfWatch,
  NEW_NODE,
  notUnfit,
  required,
  requiredTermsOf,
  startControllers,
  untilInjected,
  WAIT,
} from './injection/world.ts';

/**
 * The twin of a required term with the real scheduler, which cluster-autoscaler calls in its simulation: where pods go
 * while every real node is unfit, and there is a template that was copied from one of them.
 */
const UNFIT = ['n1', 'n2'];
const KEY = keyOfWatch('db');
const MANY = 10;

let f: Fixture;
let c: Connected;
let controllers: RunningProcess[] = [];
/** Without the label of newer releases, until a test adds it. */
let template: string;

beforeAll(async () => {
  f = await startFixture({ nodes: UNFIT });
  c = connect(f.controlPlane);
  for (const node of UNFIT) f.exporter.setPercent(node, 60);
  await giveRoom(f, UNFIT);
  await installPlacementPolicy(f.client);
  await f.startOperator();
  const podSelector = { matchLabels: { app: 'db' } };
  await f.createWatch('db', { maxBandwidthPercent: '10', placement: 'Required', podSelector });
  await untilInjected(f, c, 'db', 'db');
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'true', n2: 'true' }), WAIT);
  // The rest is up to the API server and the scheduler.
  await f.stopOperator();
  template = await addTemplateOf('n1');
  controllers = await startControllers(f);
});
afterAll(async () => {
  for (const each of controllers) await each.stop();
  await c.transport.close();
  await f.stop();
});

/**
 * Adds the Node that cluster-autoscaler builds from a real one: another name, UID and hostname, all other labels copied
 * (createSanitizedNode in cluster-autoscaler/simulator/node_info_utils.go of kubernetes/autoscaler). It exists only in
 * the memory of cluster-autoscaler, never in a cluster; here the scheduler has to see it.
 */
async function addTemplateOf(real: string): Promise<string> {
  const name = 'template-node-for-workers-4321';
  const { metadata }: V1Node = await f.client.get(NODES, { name: real });
  const labels = { ...metadata?.labels, 'kubernetes.io/hostname': name };
  expect(labels).toMatchObject({ [KEY]: 'true' });
  await f.client.create(NODES, { metadata: { name, labels } });
  await giveRoom(f, [name]);
  return name;
}

/** Since https://github.com/kubernetes/autoscaler/pull/9702; merged into 1.33 and 1.34, too. */
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
  it('no node takes the pod, nor does the template of a release that does not mark it', async () => {
    await createSelected('db-0');
    expect(requiredTermsOf(await podOf('db-0'))).toEqual([
      { matchExpressions: [notUnfit('db')] },
      { matchExpressions: [NEW_NODE] },
    ]);
    await expectNoNode('db-0');
  });

  it('a marked template takes the pod, by its twin', async () => {
    await markTemplate();
    await vi.waitFor(async () => expect((await podOf('db-0')).spec?.nodeName).toBe(template), WAIT);
  });

  it('takes no pod without the twin: the autoscaler would add no node', async () => {
    await createByHand('by-hand');
    await expectNoNode('by-hand');
  });

  it('gains nothing for a real node: all pods are on the template', async () => {
    const names = Array.from({ length: MANY }, (_, n) => `db-${n + 1}`);
    await createSelected(...names);
    await vi.waitFor(async () => {
      const nodes = (await Promise.all(names.map(podOf))).map(({ spec }) => spec?.nodeName);
      expect(nodes).toEqual(names.map(() => template));
    }, WAIT);
  });
});
