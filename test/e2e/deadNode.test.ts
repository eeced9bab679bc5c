import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { measured, seconds } from '../harness/measured.ts';
import { within } from '../harness/slack.ts';
import { labDown, stopNode } from '../lab/lab.ts';
import { helmInstall, helmUninstall, NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { getObject, kubectl } from '../scenario/kubectl.ts';
import { labels, ownLabels } from '../scenario/nodeLabels.ts';
import { leaderPod } from '../scenario/operatorPods.ts';
import { applyWatch } from '../scenario/watch.ts';
import { enterLab } from './storyLab/storyLab.ts';

/** helm uninstall while a node with the operator's leader on it is switched off, and nobody has deleted the node. */
const OPERATOR_PODS = ['pods', '-n', NAMESPACE, '-l', 'app.kubernetes.io/component=manager'];

let dead: string;

async function nodeOf(pod: string): Promise<string> {
  return (await getObject<V1Pod>('pod', pod, '-n', NAMESPACE)).spec!.nodeName!;
}

async function ready(node: string): Promise<string | undefined> {
  const { status } = await getObject<V1Node>('node', node);
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

beforeAll(async () => {
  await enterLab();
  await helmInstall({ interval: '5s' });
  await applyWatch('web', '90', 1);
  await vi.waitFor(async () => expect(Object.values(await labels('web'))).toEqual(Array(3).fill('false')), within(120));
}, 900_000);
// A lab with a dead node serves no other story.
afterAll(() => labDown());

it('helm uninstall ends while a node with the leader is switched off, and leaves nothing on any node', async () => {
  onTestFailed(async () => console.error(await operatorLogs().catch(String)));
  // Service addresses are routed through the first node, so that one stays.
  await vi.waitFor(async () => {
    const leader = await leaderPod();
    dead = await nodeOf(leader);
    if (dead === 'node1') await kubectl('delete', 'pod', leader, '-n', NAMESPACE);
    expect(dead).not.toBe('node1');
  }, within(60));
  await stopNode(dead);
  await vi.waitFor(async () => expect(await ready(dead)).toBe('Unknown'), within(60));

  const begin = Date.now();
  await helmUninstall();
  measured(`helm uninstall took ${seconds(Date.now() - begin)} with ${dead} switched off`);

  expect(await ownLabels()).toEqual([]);
  expect((await getObject<TrafficWatch>('trafficwatch', 'web')).metadata).not.toHaveProperty('finalizers');
  // Kubernetes keeps a pod of a dead node until the node is back or deleted: that is all that is left.
  await vi.waitFor(async () => {
    const { items } = await getObject<{ items: V1Pod[] }>(...OPERATOR_PODS);
    expect(items.map(({ spec }) => spec?.nodeName)).toEqual([dead]);
  }, within(30));
  const left = await kubectl('get', 'deployments,services,jobs,leases', '-n', NAMESPACE, '-o', 'name');
  expect(left.trim()).toBe('');
});
