import { readFile } from 'node:fs/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, onTestFailed, onTestFinished, vi } from 'vitest';
import type { TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { measured, seconds } from '../harness/measured.ts';
import { helmInstall, operatorLogs } from '../scenario/install.ts';
import { getObject, inCluster, kubectl } from '../scenario/kubectl.ts';
import { componentOf, createdEarly } from '../scenario/podOrder.ts';
import { PodWatch } from '../scenario/podWatch.ts';
import { StackWatch } from '../scenario/stackWatch.ts';
import { deletePods, idOfRef, podsOf } from '../scenario/workloads.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';
import { SLACK, within } from '../harness/slack.ts';

/** The stack of deploy/samples, whose containers exit unless what they depend on answers. */
const SAMPLE = new URL('../../deploy/samples/trafficstack.yaml', import.meta.url);
const NAMESPACE = 'shop';
/** Pods of each component. */
const PODS = { db: 3, api: 2, web: 2, agent: NODES.length };
const API = { kind: 'Deployment', namespace: NAMESPACE, name: 'api' };
const failureReport = (): void => onTestFailed(async () => console.error(await operatorLogs().catch(String)));

beforeAll(async () => {
  await enterLab();
  await helmInstall();
});
afterAll(leaveLab);

const stack = () => getObject<TrafficStack>('trafficstack', 'shop');
const state = async (name: string) => (await stack()).status?.components?.find((each) => each.name === name);
/** With the operations of a JSON patch (RFC 6902). The sample has web, api and db in this order. */
const patch = (...operations: readonly object[]) =>
  kubectl('patch', 'trafficstack', 'shop', '--type=json', '--patch', JSON.stringify(operations));
const pods = async () => (await getObject<{ items: V1Pod[] }>('pods', '-n', NAMESPACE)).items;
const tallyOf = (all: readonly V1Pod[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(all, componentOf)].map(([component, own]) => [component, own.length]));
const isReady = async (): Promise<void> => {
  const { status } = await stack();
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
};

it('comes up in order after one kubectl apply, and no container ends for want of another', async () => {
  failureReport();
  const watch = await PodWatch.start();
  onTestFinished(() => watch.stop());
  const begin = performance.now();
  await inCluster('kubectl', ['apply', '--validate=strict', '-f', '-'], await readFile(SAMPLE, 'utf8'));
  await vi.waitFor(isReady, within(120));
  measured(`the stack was ready after ${seconds(performance.now() - begin)}`);
  console.log(await kubectl('get', 'trafficstack'), await kubectl('get', 'pods', '-n', NAMESPACE));
  const all = await pods();
  expect(tallyOf(all)).toEqual(PODS);
  for (const { status } of all) for (const each of status?.containerStatuses ?? []) expect(each.restartCount).toBe(0);
  expect(createdEarly(await stack(), await watch.eventsUntilNow(), PODS)).toEqual([]);
});

it('names a component whose pods are deleted within 10 s, and is ready again', async () => {
  failureReport();
  const watch = await StackWatch.start('shop');
  const before = await podsOf(API);
  const begin = performance.now();
  await deletePods(before);
  const named = await watch.named('api', begin);
  expect(named.status).toMatchObject({ state: 'Degraded', reason: expect.stringMatching(/^[A-Z]\w+$/) as unknown });
  expect(named.status.message).toMatch(`${idOfRef(API)}: `);
  measured(`the component was named after ${seconds(named.at - begin)}`);
  await watch.healed('api', named);
  // What depends on it goes on running, and is Ready all the time.
  expect(new Set(watch.of('web').map(({ status }) => status.state))).toEqual(new Set(['Ready']));
  await watch.stop();
  await vi.waitFor(isReady, within(90));
});

it('changes what others depend on first, names why that does not get ready, and goes on when it does', async () => {
  failureReport();
  const setImage = (value: string) =>
    patch({ op: 'replace', path: '/spec/components/2/workload/podTemplate/spec/containers/0/image', value });
  await setImage('lab.local/missing:1');
  await vi.waitFor(
    async () => expect((await state('db'))?.reason).toMatch(/^(ErrImagePull|ImagePullBackOff)$/),
    within(60),
  );
  const value = { annotations: { round: '2' } };
  await patch({ op: 'add', path: '/spec/components/1/workload/podTemplate/metadata', value });
  await vi.waitFor(async () => {
    const api = await state('api');
    expect(api).toMatchObject({
      state: 'Waiting',
      readyReplicas: 2,
      waitingOn: { component: 'db', what: 'StatefulSet shop/db' },
    });
    expect(api?.waitingOn?.observed).toMatch(/pod shop\/db-2, container db: (ErrImagePull|ImagePullBackOff)/);
  }, within(30));
  console.log(await kubectl('get', 'trafficstack'), JSON.stringify((await stack()).status?.components, null, 2));
  await setImage('docker.io/library/busybox:1.36');
  await vi.waitFor(isReady, within(90));
});

it('holds a change at the gate, then restores what does not get ready', async () => {
  failureReport();
  const upgrade = (query: string) => patch({ op: 'add', path: '/spec/upgrade', value: { query, rollback: true } });
  const change = (command: readonly string[], deadline: string) =>
    patch(
      { op: 'add', path: '/spec/components/1/deadline', value: deadline },
      { op: 'replace', path: '/spec/components/1/workload/podTemplate/spec/containers/0/command', value: command },
    );
  // Those of the change before may still be ending.
  const before = await vi.waitFor(async () => {
    const found = await podsOf(API);
    expect(found).toHaveLength(PODS.api);
    return found;
  }, within(60));
  const command = before[0]?.spec?.containers[0]?.command ?? [];
  const uids = (all: readonly V1Pod[]) => all.map(({ metadata }) => metadata?.uid).sort();
  await upgrade('count(up == 1) > 1000');
  await vi.waitFor(async () => {
    const stored = ['controllerrevisions', '-n', NAMESPACE, '-l', 'traffic.example.com/component=api'];
    expect((await getObject<{ items: unknown[] }>(...stored)).items).toHaveLength(1);
  }, within(30));
  await change(['false'], '20s');
  await vi.waitFor(async () => expect(await state('api')).toMatchObject({ reason: 'WaitingForGate' }), within(30));
  expect(uids(await podsOf(API))).toEqual(uids(before));
  await upgrade('count(up == 1) > 0');
  await vi.waitFor(async () => {
    expect(await state('api')).toMatchObject({
      ...{ state: 'Failed', reason: 'RolledBack', readyReplicas: before.length },
      rolledBackFrom: { message: expect.stringContaining('it ended with exit code 1') as unknown },
    });
    expect(uids(await podsOf(API))).toEqual(uids(before));
  }, within(90));
  console.log(await kubectl('get', 'trafficstack'), JSON.stringify(await state('api'), null, 2));
  await change(command, '10m');
  await vi.waitFor(isReady, within(90));
});

it('leaves nothing after kubectl delete', async () => {
  failureReport();
  await kubectl('delete', 'trafficstack', 'shop', `--timeout=${SLACK * 60}s`);
  expect(await pods()).toEqual([]);
  const left = await getObject<{ items: unknown[] }>('deploy,sts,ds,svc,rs', '-n', NAMESPACE);
  expect(left.items).toEqual([]);
});
