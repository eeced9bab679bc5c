import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { arrived, audited } from '../../harness/audit.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { measured, seconds } from '../../harness/measured.ts';
import { NODE } from './kubelet.ts';
import { component, PERSON, startScene, USER, WAIT, type StackScene } from './scene.ts';

/** Components whose workload another owner has made, or may have: src/controllers/trafficstack/decide/present/external.test.ts has the table. */
const DB = { namespace: 'default', name: 'db' };
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

/** Without a template: it is not the stack's. */
const EXTERNAL: ComponentSpec = {
  name: 'db',
  type: 'Workload',
  mode: 'External',
  deadline: '120s',
  ready: { expression: 'workload.spec.replicas >= 2' },
  workload: { kind: 'Deployment', namespace: 'default' },
};
const AUTO = component('db', { mode: 'Auto' });
const FILES = { config: [{ name: 'etc', mountPath: '/etc/api', files: { host: 'db' } }] };
const API = component('api', { dependsOn: ['db'], workload: FILES });
/** A workload that another owner makes, as with helm. */
const theirs = (replicas = 2) => {
  const labels = { app: 'theirs' };
  const spec = { nodeName: NODE, terminationGracePeriodSeconds: 0, containers: [{ name: 'db', image: 'theirs:7' }] };
  return s.f.client.create(DEPLOYMENTS, {
    metadata: DB,
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
};
const uid = async () => (await s.f.client.get(DEPLOYMENTS, DB)).metadata?.uid;
const writesTo = (name: string) => s.writes().filter((write) => write.endsWith(`/${name}`));
const gone = () => vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);

it('a workload that does not exist yet is the root of what waits for it', async () => {
  await s.create('main', [API, EXTERNAL]);
  await s.becomes('db', { mode: 'External', state: 'Progressing', reason: 'ExternalMissing' });
  await s.becomes('api', {
    state: 'Waiting',
    waitingOn: { component: 'db', what: 'Deployment default/db' },
  });
  expect((await s.component('api'))?.waitingOn?.observed).toContain('Deployment default/db does not exist');
});

it('it is ready by the same rules, and is not written', async () => {
  await theirs(1);
  await s.becomes('db', { reason: 'NotReadyYet', readyReplicas: 1, version: 'theirs:7' });
  await s.f.client.mergePatch(DEPLOYMENTS, DB, { spec: { replicas: 2 } }, PERSON);
  await s.ready();
  expect(await s.component('db')).toMatchObject({ mode: 'External', state: 'Ready', readyReplicas: 2 });
  expect(writesTo('db')).toEqual([]);
});

it('it is Degraded when somebody deletes it, and what depends on it goes on', async () => {
  const since = writesTo('api').length;
  await s.f.client.delete(DEPLOYMENTS, DB);
  await s.becomes('db', { state: 'Degraded', reason: 'ExternalMissing' });
  expect(await s.component('api')).toMatchObject({ state: 'Ready' });
  expect(writesTo('api')).toHaveLength(since);
});

it('with Auto, one that was used and is missing is waited for; with Managed, it is made, and stays the stack’s', async () => {
  await s.change('main', [API, AUTO]);
  await s.becomes('db', {
    ...{ reason: 'ExternalMissing', uses: { kind: 'Deployment', ...DB } },
    message: expect.stringContaining('to have its own deployed, set the mode Managed') as string,
  });
  expect(writesTo('db')).toEqual([]);
  await s.change('main', [API, { ...AUTO, mode: 'Managed' }]);
  await s.ready();
  await s.change('main', [API, AUTO]);
  await s.ready();
  const db = await s.component('db');
  expect([db?.mode, db?.version]).toEqual([undefined, 'db:1']);
  expect(writesTo('db')).toEqual(['patch deployments/db']);
});

it('one of the stack that is External now is no longer written, keeps its files, and is removed with the stack', async () => {
  await s.change('main', [{ ...API, mode: 'External' }, AUTO]);
  await s.becomes('api', { mode: 'External', state: 'Ready' });
  const api = { ...DB, name: 'api' };
  await s.f.client.mergePatch(
    DEPLOYMENTS,
    api,
    { spec: { template: { metadata: { annotations: { a: 'b' } } } } },
    PERSON,
  );
  await s.restartOperator();
  await s.becomes('api', { mode: 'External', state: 'Ready' });
  expect((await s.f.client.get(DEPLOYMENTS, api)).spec?.template.metadata?.annotations).toEqual({ a: 'b' });
  expect((await files()).length).toBe(1);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await gone();
  expect([await s.workloads(), await files()]).toEqual([[], []]);
});

it('with Auto, one of another owner is used, and outlives the stack', async () => {
  await theirs();
  const before = [await uid(), writesTo('db').length];
  await s.create('main', [API, AUTO]);
  await s.ready();
  expect(await s.component('db')).toMatchObject({ mode: 'External', version: 'theirs:7', state: 'Ready' });
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await gone();
  expect([await uid(), writesTo('db').length]).toEqual(before);
});

/** Until the component has this in its status after a change. */
async function isSeen(what: string, change: () => Promise<unknown>, wanted: object): Promise<void> {
  const since = performance.now();
  await change();
  await vi.waitFor(async () => expect(await s.component('db')).toMatchObject(wanted), { ...WAIT, interval: 50 });
  measured(`a workload of another owner is ${what}: in the status after ${seconds(performance.now() - since)}`);
}
/** The number of reads of the operator: without a watch it would read every 10 s. */
const reads = () => audited(s.f.controlPlane).filter(({ user, verb }) => user === USER && verb === 'get').length;
const scale = (replicas: number) => s.f.client.mergePatch(DEPLOYMENTS, DB, { spec: { replicas } }, PERSON);
const scaledTo = (replicas: number, wanted: object) => isSeen(`scaled to ${replicas}`, () => scale(replicas), wanted);
const watches = () =>
  arrived(s.f.controlPlane).filter(
    ({ user, verb, name, code }) => user === USER && verb === 'watch' && name === DB.name && code === 200,
  ).length;

/** Until the operator watches the workload, after so many watches of it. A change that is seen then proves that the watch is current. */
async function untilWatched(before: number): Promise<void> {
  await vi.waitFor(() => expect(watches()).toBeGreaterThan(before), WAIT);
  await scaledTo(3, { state: 'Ready', readyReplicas: 3 });
}

/** By the watch alone. */
async function eachChangeIsSeen(): Promise<void> {
  const before = reads();
  await scaledTo(0, { state: 'Degraded', reason: 'NotReadyYet' });
  await scaledTo(2, { state: 'Ready', readyReplicas: 2 });
  await isSeen('deleted', () => s.f.client.delete(DEPLOYMENTS, DB), { state: 'Degraded', reason: 'ExternalMissing' });
  await isSeen('created', () => theirs(), { state: 'Ready' });
  expect(reads()).toBe(before);
}

it('each change is seen, and reads nothing', async () => {
  const before = watches();
  await s.create('main', [EXTERNAL]);
  await s.ready();
  await untilWatched(before);
  await eachChangeIsSeen();
});

it('one that is of another stack, or of a person, is refused by its name, and is unchanged', async () => {
  const refuse = async (stack: string, name: string, owner: string): Promise<void> => {
    const ref = { ...DB, name };
    const before = (await s.f.client.get(DEPLOYMENTS, ref)).metadata?.generation;
    const written = writesTo(name).length;
    await s.create(stack, [component('mine', { workload: { name } }), component('after', { dependsOn: ['mine'] })]);
    const message = `Deployment default/${name} exists and is not of this stack, but of ${owner}: it is left as it is`;
    await s.becomes('mine', { state: 'Failed', reason: 'ForeignObject', message }, stack);
    await vi.waitFor(async () => {
      expect(await s.condition('Stalled', stack)).toMatchObject({ status: 'True', reason: 'ForeignObject' });
      expect((await s.condition('Stalled', stack))?.message).toContain(message);
    }, WAIT);
    expect(await s.component('after', stack)).toMatchObject({ state: 'Waiting', waitingOn: { component: 'mine' } });
    expect([(await s.f.client.get(DEPLOYMENTS, ref)).metadata?.generation, writesTo(name).length]).toEqual([
      before,
      written,
    ]);
  };
  await s.create('first', [component('ours')]);
  await s.ready('first');
  await refuse('second', 'ours', 'the TrafficStack first, component ours');
  await kubectl(s.f.controlPlane, ['create', 'deployment', 'theirs', '--image=x:1', '--replicas=0']);
  await refuse('third', 'theirs', 'the field manager kubectl-create');
  // It is the stack's when that is gone.
  await s.f.client.delete(DEPLOYMENTS, { ...DB, name: 'theirs' });
  await s.ready('third');
});

async function files() {
  const all = await s.f.client.list(CONFIG_MAPS, { namespace: 'default' });
  return all.filter(({ metadata }) => metadata?.name?.startsWith('api-etc-'));
}
