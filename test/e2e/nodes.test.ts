import type { EventsV1Event, V1Node, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, onTestFailed, vi } from 'vitest';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { measured, seconds } from '../harness/measured.ts';
import { SLACK, within } from '../harness/slack.ts';
import { labDown, restartKubelet, stopNode } from '../lab/lab.ts';
import { getRaw } from '../scenario/api.ts';
import { helmInstall, helmUninstall, NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { labels, ownLabels } from '../scenario/nodeLabels.ts';
import { leaderPod } from '../scenario/operatorPods.ts';
import { sampleWatch } from '../scenario/watch.ts';
import { enterLab, NODES } from './storyLab/storyLab.ts';

/**
 * Restarts the kubelet of an unfit node with pods of every placement; then helm uninstall while a node with the operator's
 * leader on it is switched off, and nobody has deleted the node.
 */
const RESTARTS = 10;
const UNFIT = 'node2';
/** Unfit when the pods of AtCreation are created, so that their affinity excludes it. */
const UNFIT_FIRST = 'node3';
const WATCHES = ['preferred', 'required', 'atcreation'];
const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

async function applyPlacement(name: string, placement: 'Required' | 'Preferred'): Promise<void> {
  const watch = sampleWatch(name, '90', NODES.length);
  await applyObjects([{ ...watch, spec: { ...watch.spec, placement } }]);
}

/** A Deployment that the operator does not own, with AtCreation: its pods exclude UNFIT_FIRST, and some run on UNFIT. */
async function applyAtCreation(name: string): Promise<void> {
  const { spec, ...watch } = sampleWatch(name, '90', 4);
  const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  const { maxBandwidthPercent, deployment } = spec;
  await applyObjects([
    { ...watch, spec: { maxBandwidthPercent, placement: 'AtCreation', targetRef } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: watch.metadata, spec: { ...deployment, replicas: 0 } },
  ]);
  await vi.waitFor(async () => {
    const { podSelector, avoidedNodes } = (await getObject<TrafficWatch>('trafficwatch', name)).status ?? {};
    expect([podSelector, avoidedNodes]).toEqual([deployment.selector, [UNFIT_FIRST]]);
  }, within(90));
  // Names precede labels: until then the node still counts as fit.
  await untilLabelled(UNFIT_FIRST, 'true', [name]);
  await kubectl('scale', 'deployment', name, `--replicas=${deployment.replicas}`);
  await kubectl('rollout', 'status', `deployment/${name}`, `--timeout=${SLACK * 60}s`);
}

async function podsOf(watch: string): Promise<V1Pod[]> {
  return (await getObject<{ items: V1Pod[] }>('pods', '-l', `app=${watch}`)).items;
}

async function podsOnUnfit(watch: string): Promise<V1Pod[]> {
  return (await podsOf(watch)).filter(({ spec }) => spec?.nodeName === UNFIT);
}

/**
 * Each pod's name with its phase and how often its containers were restarted. A pod that a kubelet has rejected loses
 * its container statuses first, and its phase turns Failed once the containers have ended.
 */
async function states(watch: string): Promise<string> {
  const restartsOf = ({ status }: V1Pod): string =>
    status?.containerStatuses?.map(({ restartCount }) => `${restartCount} restarts`).join() ?? 'no containers';
  const pods = await podsOnUnfit(watch);
  return pods
    .map((pod) => `${pod.metadata?.name} ${pod.status?.phase}, ${restartsOf(pod)}`)
    .sort()
    .join('; ');
}

/** The kubelet lists a pod before it admits it, in the same turn of its loop; it says so through the API server. */
async function kubeletKnows(pod: string): Promise<void> {
  await vi.waitFor(async () => expect(await getRaw(`/api/v1/nodes/${UNFIT}/proxy/pods`)).toContain(pod), within(30));
}

async function setCapacity(node: string, capacity: string): Promise<void> {
  await kubectl('annotate', 'node', node, '--overwrite', `traffic.example.com/capacity=${capacity}`);
}

async function untilLabelled(node: string, label: string, watches: readonly string[]): Promise<void> {
  for (const watch of watches) {
    await vi.waitFor(async () => expect((await labels(watch))[node]).toBe(label), within(90));
  }
}

async function isReady(node: string): Promise<string | undefined> {
  const { status } = await getObject<V1Node>('node', node);
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

/** When the unfit node was last measured, as the TrafficWatch's status says: Unix seconds. */
async function lastPass(watch: string): Promise<number> {
  return (await getObject<TrafficWatch>('trafficwatch', watch)).status?.nodes?.[UNFIT]?.time ?? 0;
}

async function passes(watch: string, count: number): Promise<void> {
  for (let pass = 0; pass < count; pass++) {
    const before = await lastPass(watch);
    await vi.waitFor(async () => expect(await lastPass(watch)).toBeGreaterThan(before), within(30));
  }
}

async function rejections(watch: string): Promise<EventsV1Event[]> {
  const { items } = await getObject<{ items: EventsV1Event[] }>('events.events.k8s.io');
  return items.filter(({ reason, regarding }) => reason === 'PodsRejected' && regarding?.name === watch);
}

/** A node without load sends far more than 1 kbit/s, and far less than 100 Gbit/s. */
beforeAll(async () => {
  await enterLab();
  await helmInstall({ interval: '5s' });
  await applyPlacement('preferred', 'Preferred');
  await applyPlacement('required', 'Required');
  await setCapacity(UNFIT, '100Gbit');
  await untilLabelled(UNFIT, 'false', ['preferred', 'required']);
  // Each has one pod on each node, by the scheduler's spreading.
  for (const watch of ['preferred', 'required']) {
    await kubectl('rollout', 'status', `deployment/${watch}`, `--timeout=${SLACK * 60}s`);
    expect(await podsOnUnfit(watch)).toHaveLength(1);
  }
  await setCapacity(UNFIT_FIRST, '1kbit');
  await applyAtCreation('atcreation');
  await setCapacity(UNFIT, '1kbit');
  await untilLabelled(UNFIT, 'true', WATCHES);
}, 900_000);
// A lab with a dead node serves no other story.
afterAll(() => labDown());

async function restartRepeatedly(pod: string): Promise<void> {
  const begin = Date.now();
  for (let restart = 0; restart < RESTARTS; restart++) {
    await restartKubelet(UNFIT);
    await kubeletKnows(pod);
  }
  measured(`${RESTARTS} restarts of a kubelet took ${seconds(Date.now() - begin)}`);
}

/** When a pod was first seen to have failed: ms since the epoch. A rejected pod need not have a condition that says so. */
async function failureOf(watch: string): Promise<number> {
  await vi.waitFor(async () => expect(await states(watch)).toContain('Failed'), within(120));
  return Date.now();
}

describe(`a kubelet that restarts ${RESTARTS} times on an unfit node`, () => {
  let failedAt: number;

  it('loses no pod with Preferred, nor with AtCreation', async () => {
    failureReport();
    const before = await states('preferred');
    expect(before).toMatch(/^preferred-\S+ Running, 0 restarts$/);
    const ofAtCreation = await podsOf('atcreation');
    const nodes = ofAtCreation.map(({ spec }) => spec?.nodeName);
    expect(nodes).toContain(UNFIT);
    expect(nodes).not.toContain(UNFIT_FIRST);
    expect(JSON.stringify(ofAtCreation[0]?.spec?.affinity)).toContain(
      `{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["${UNFIT_FIRST}"]}]}`,
    );
    const atCreation = await states('atcreation');
    const pod = (await podsOnUnfit('preferred'))[0]!.metadata!.name!;
    // That these restarts rejected the one shows that the kubelet has had the time to reject the other.
    [failedAt] = await Promise.all([failureOf('required'), restartRepeatedly(pod)]);
    expect(await states('preferred')).toBe(before);
    expect(await states('atcreation')).toBe(atCreation);
    measured(`with AtCreation, ${(await podsOnUnfit('atcreation')).length} pods there were kept: ${atCreation}`);
  });

  it('loses pods with Required, and an event on the TrafficWatch says why and what to do within 30 s', async () => {
    failureReport();
    await vi.waitFor(async () => expect(await rejections('required'), 'PodsRejected').toHaveLength(1), within(30));
    const [lost] = (await podsOnUnfit('required')).filter(({ status }) => status?.phase === 'Failed');
    expect(lost?.status?.reason).toBe('NodeAffinity');
    const [event] = await rejections('required');
    expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'TrafficWatch', namespace: 'default' } });
    expect(event?.note).toContain(lost?.metadata?.name);
    expect(event?.note).toMatch(new RegExp(`kubelet of node ${UNFIT} .*spec\\.placement to Preferred.*drain`));
    const after = new Date(event?.eventTime ?? 0).getTime() - failedAt;
    measured(`the event came ${seconds(after)} after the pod was seen to have failed`);
    expect(after).toBeLessThan(SLACK * 30_000);
    expect(await rejections('preferred')).toEqual([]);
  });

  it('is Ready in the end, and says nothing twice', async () => {
    await vi.waitFor(async () => expect(await isReady(UNFIT)).toBe('True'), within(60));
    await passes('required', 2);
    // A repeat raises the count of the series of the event that is there.
    expect((await rejections('required')).map(({ series }) => series?.count ?? 1)).toEqual([1]);
  });
});

it('helm uninstall ends while a node with the leader is switched off, and leaves nothing on any node', async () => {
  failureReport();
  // Service addresses are routed through the first node, so that one stays.
  const dead = await vi.waitFor(async () => {
    const leader = await leaderPod();
    const { spec } = await getObject<V1Pod>('pod', leader, '-n', NAMESPACE);
    if (spec?.nodeName === 'node1') await kubectl('delete', 'pod', leader, '-n', NAMESPACE);
    expect(spec?.nodeName).not.toBe('node1');
    return spec!.nodeName!;
  }, within(60));
  await stopNode(dead);
  await vi.waitFor(async () => expect(await isReady(dead)).toBe('Unknown'), within(60));

  const begin = Date.now();
  await helmUninstall();
  measured(`helm uninstall took ${seconds(Date.now() - begin)} with ${dead} switched off`);

  expect(await ownLabels()).toEqual([]);
  for (const watch of WATCHES) {
    expect((await getObject<TrafficWatch>('trafficwatch', watch)).metadata).not.toHaveProperty('finalizers');
  }
  // Kubernetes keeps a pod of a dead node until the node is back or deleted: that is all that is left.
  await vi.waitFor(async () => {
    const ofOperator = ['pods', '-n', NAMESPACE, '-l', 'app.kubernetes.io/component=manager'];
    const { items } = await getObject<{ items: V1Pod[] }>(...ofOperator);
    expect(items.map(({ spec }) => spec?.nodeName)).toEqual([dead]);
  }, within(30));
  const left = await kubectl('get', 'deployments,services,jobs,leases', '-n', NAMESPACE, '-o', 'name');
  expect(left.trim()).toBe('');
});
