import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { EventsV1Event } from '@kubernetes/client-node';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { audited } from '../../harness/audit.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { sleep } from '../../harness/measured.ts';
import { NODE } from './kubelet.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';
import { AGENT, ALL, API, DB, WEB } from './shop.ts';

/** What `kubectl get events` says about a stack. */
const USER = 'stack-events';
/** Longer than from a status to its Events. ms */
const QUIET_MS = 3_000;
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

/** In the order in which they happened, as `type reason: note`. */
async function told(): Promise<string[]> {
  const args = ['get', 'events.v1.events.k8s.io', '-o', 'json'];
  const about = ['--field-selector', 'regarding.kind=TrafficStack,regarding.name=main'];
  const { items } = JSON.parse(await kubectl(s.f.controlPlane, [...args, ...about])) as { items: EventsV1Event[] };
  // Two of one microsecond have names in their order.
  const at = ({ eventTime, metadata }: EventsV1Event): string => `${String(eventTime)} ${metadata?.name}`;
  return items
    .toSorted((a, b) => (at(a) < at(b) ? -1 : 1))
    .map(({ type, reason, note, series }) => `${type} ${reason}: ${note}${series === undefined ? '' : ' again'}`);
}

/** The Events that name a component. */
const about = async (name: string) => (await told()).filter((line) => line.includes(`: ${name} `));
const isOfComponent = (line: string): boolean => line.includes(' Component');
const eventWrites = (): number =>
  audited(s.f.controlPlane).filter(({ user, resource }) => user === USER && resource === 'events').length;

it('tell the way of each component of a bring-up, in its order', async () => {
  await s.create('main', ALL);
  await s.ready();
  await vi.waitFor(async () => expect((await told()).at(-1)).toMatch(/^Normal AllReady: /), WAIT);
  const [agent, db, api, web] = await Promise.all(['agent', 'db', 'api', 'web'].map(about));
  expect(agent).toEqual([
    'Normal ComponentStarted: agent is Progressing: to create: DaemonSet default/agent',
    'Normal ComponentReady: agent is Ready: DaemonSet default/agent: 1 of 1 pods are available',
  ]);
  expect(db).toEqual([
    'Normal ComponentStarted: db is Progressing: to create: Service default/db',
    'Normal ComponentReady: db is Ready: StatefulSet default/db: 2 of 2 pods are available',
  ]);
  // The root cause, also where it is not what it depends on itself.
  const waits = 'is Waiting: waits for db: Progressing: to create: Service default/db';
  expect(api).toEqual([
    `Normal ComponentWaiting: api ${waits}`,
    'Normal ComponentStarted: api is Progressing: to create: Service default/api',
    'Normal ComponentReady: api is Ready: Deployment default/api: 2 of 2 pods are available',
  ]);
  expect(web).toEqual([
    `Normal ComponentWaiting: web ${waits}`,
    'Normal ComponentStarted: web is Progressing: to create: Deployment default/web',
    'Normal ComponentReady: web is Ready: Deployment default/web: 1 of 1 pods are available',
  ]);
  const all = await told();
  expect(all).toHaveLength([agent, db, api, web].flat().length + 1);
  const inOrder = [db!.at(-1)!, api![1]!, api![2]!, web![1]!, web![2]!, all.at(-1)!];
  expect(all.filter((line) => inOrder.includes(line))).toEqual(inOrder);
});

it('are none while nothing changes, also after a restart of the operator', async () => {
  const [before, writes] = [await told(), eventWrites()];
  await s.restartOperator();
  await sleep(QUIET_MS);
  expect(await told()).toEqual(before);
  expect(eventWrites()).toBe(writes);
});

it('name no component whose pods an autoscaler adds and takes away', async () => {
  const before = await told();
  const ref = { namespace: 'default', name: 'web' };
  const scale = (replicas: number) => s.f.client.mergePatch(DEPLOYMENTS, ref, { spec: { replicas } }, PERSON);
  // New pods are not ready until that is seen.
  s.kubelet.off.add(NODE);
  await scale(3);
  await s.becomes('web', { state: 'Progressing', replicas: 3, readyReplicas: 1 });
  s.kubelet.off.delete(NODE);
  for (const replicas of [3, 1, 2, 4]) {
    await scale(replicas);
    await s.becomes('web', { state: 'Ready', replicas, readyReplicas: replicas });
  }
  await vi.waitFor(async () => expect((await told()).length).toBeGreaterThan(before.length), WAIT);
  await sleep(QUIET_MS);
  const after = await told();
  expect(after.filter(isOfComponent)).toEqual(before.filter(isOfComponent));
  // It was Progressing meanwhile: the stack is Ready again.
  expect(after.length).toBeGreaterThan(before.length);
});

it('tell of a change: that it starts, what waits for it, and that it is ready', async () => {
  const before = (await told()).filter(isOfComponent).length;
  const { podTemplate } = component('db', { image: 'db:2' }).workload;
  const { podTemplate: ofApi } = component('api', { image: 'api:2' }).workload;
  await s.change('main', [
    ...[WEB, AGENT],
    { ...API, workload: { ...API.workload, podTemplate: ofApi } },
    { ...DB, workload: { ...DB.workload, podTemplate } },
  ]);
  await s.ready();
  await vi.waitFor(async () => {
    expect((await told()).filter(isOfComponent).slice(before)).toEqual([
      'Normal ComponentStarted: db is Progressing: to change: StatefulSet default/db',
      'Normal ComponentWaiting: api is Waiting: waits for db: Progressing: to change: StatefulSet default/db',
      'Normal ComponentReady: db is Ready: StatefulSet default/db: 2 of 2 pods are available',
      'Normal ComponentStarted: api is Progressing: to change: Deployment default/api',
      'Normal ComponentReady: api is Ready: Deployment default/api: 2 of 2 pods are available',
    ]);
  }, WAIT);
});

it('tell of a workload that somebody has deleted', async () => {
  const before = (await told()).filter(isOfComponent).length;
  await s.f.client.delete(DEPLOYMENTS, { namespace: 'default', name: 'web' });
  await vi.waitFor(async () => {
    expect((await told()).filter(isOfComponent).slice(before)).toEqual([
      'Normal ComponentStarted: web is Progressing: to create: Deployment default/web',
      'Normal ComponentReady: web is Ready: Deployment default/web: 1 of 1 pods are available',
    ]);
  }, WAIT);
});
