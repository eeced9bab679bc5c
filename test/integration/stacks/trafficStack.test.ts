import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { cleanUp } from '../../../src/controllers/trafficstack/cleanup.ts';
import { FINALIZER, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, PODS, SERVICES, STATEFULSETS } from '../../../src/runtime/client/resources.ts';
import { createLogger } from '../../../src/runtime/process/logger.ts';
import { writesOf } from '../../harness/audit.ts';
import { sleep } from '../../harness/measured.ts';
import { component, PERSON, unusedRights, startScene, WAIT, type StackScene } from './scene.ts';
import { AGENT, ALL, API, DB, WEB } from './shop.ts';

/** The life of a stack. */
const USER = 'stack-operator';
const IMAGE_FAULT = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "db:1"' };
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const deletedPods = () =>
  writesOf(s.f.controlPlane, USER).filter(({ verb, resource }) => verb === 'delete' && resource === 'pods');
const state = async (name: string) => (await s.component(name))?.state;

it('shows the state of each component at once, and names the root of what they wait for', async () => {
  s.kubelet.faults.set('db', IMAGE_FAULT);
  await s.create('main', ALL);
  await vi.waitFor(async () => {
    const db = { state: 'Progressing', reason: 'ImagePullBackOff', replicas: 2, readyReplicas: 0, version: 'db:1' };
    expect(await s.component('db')).toMatchObject(db);
    expect(await s.component('agent')).toMatchObject({ state: 'Ready', replicas: 1, readyReplicas: 1 });
    const waitingOn = {
      ...{ component: 'db', what: 'StatefulSet default/db' },
      observed:
        'Progressing: StatefulSet default/db: 0 of 2 pods are available; pod default/db-0, container db: ImagePullBackOff: ' +
        'Back-off pulling image "db:1"',
    };
    expect(await s.component('api')).toMatchObject({ state: 'Waiting', blockedBy: ['db'], waitingOn });
    expect(await s.component('web')).toMatchObject({ state: 'Waiting', blockedBy: ['api'], waitingOn });
  }, WAIT);
  expect(await s.workloads()).toEqual(['agent', 'db']);
  expect(await s.stack()).toMatchObject({ status: { summary: '1/4' }, metadata: { finalizers: [FINALIZER] } });
  expect(await s.condition('Ready')).toMatchObject({ status: 'False', reason: 'InProgress' });
  expect(await s.condition('Progressing')).toMatchObject({ status: 'True' });
});

it('creates a component when all that it depends on is ready, and not before', async () => {
  s.kubelet.faults.set('api', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  s.kubelet.faults.delete('db');
  await vi.waitFor(async () => expect(await state('api')).toBe('Progressing'), WAIT);
  expect([await state('db'), await state('web')]).toEqual(['Ready', 'Waiting']);
  // The status is written before the objects.
  await vi.waitFor(async () => expect(await s.workloads()).toContain('api'), WAIT);
  expect(await s.workloads()).toEqual(['agent', 'api', 'db']);
  s.kubelet.faults.delete('api');
  await s.ready();
  const created = s.writes();
  expect(created.slice(0, 2).sort()).toEqual(['patch daemonsets/agent', 'patch statefulsets/db']);
  expect(created.slice(2)).toEqual(['patch deployments/api', 'patch deployments/web']);
  await vi.waitFor(async () => {
    expect((await s.f.events('main')).map(({ reason }) => reason)).toContain('AllReady');
    const pods = await s.f.client.list(PODS);
    expect(pods.map(({ metadata }) => metadata?.labels?.[STACK_LABEL])).toEqual(Array(6).fill('main'));
  }, WAIT);
});

it('writes nothing while nothing changes, also after a restart', async () => {
  await s.f.stopOperator();
  const before = writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource !== 'events').length;
  await s.startOperator();
  await vi.waitFor(async () => {
    const metrics = await (await fetch(s.f.operator().metricsUrl)).text();
    expect(metrics).toMatch(
      /^traffic_operator_reconcile_duration_seconds_count\{controller="trafficstack"[^\n]* [1-9]/m,
    );
  }, WAIT);
  // A write would follow within milliseconds.
  await sleep(1_000);
  expect(writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource !== 'events').length).toBe(before);
});

it('corrects what others change or delete', async () => {
  const web = { namespace: 'default', name: 'web' };
  const containers = [{ name: 'web', image: 'another:1' }];
  await s.f.client.mergePatch(DEPLOYMENTS, web, { spec: { replicas: 3, template: { spec: { containers } } } }, PERSON);
  await s.f.client.delete(SERVICES, { namespace: 'default', name: 'api' });
  await s.f.client.delete(STATEFULSETS, { namespace: 'default', name: 'db' });
  await vi.waitFor(async () => {
    await s.f.client.get(SERVICES, { namespace: 'default', name: 'api' });
    expect((await s.f.client.get(STATEFULSETS, { namespace: 'default', name: 'db' })).spec?.replicas).toBe(2);
    const { spec } = await s.f.client.get(DEPLOYMENTS, web);
    expect(spec?.template.spec?.containers[0]?.image).toBe('web:1');
    // No field of the stack: an autoscaler may have it.
    expect(spec?.replicas).toBe(3);
  }, WAIT);
  await s.ready();
});

it('names a workload that is being deleted as long as that lasts, and makes it anew', async () => {
  const web = { namespace: 'default', name: 'web' };
  const { metadata } = await s.f.client.mergePatch(
    DEPLOYMENTS,
    web,
    { metadata: { finalizers: ['example.com/held'] } },
    PERSON,
  );
  await s.f.client.delete(DEPLOYMENTS, web);
  await vi.waitFor(async () => {
    expect(await s.component('web')).toMatchObject({
      ...{ state: 'Degraded', reason: 'BeingDeleted', message: 'Deployment default/web is being deleted' },
    });
  }, WAIT);
  await s.f.client.mergePatch(DEPLOYMENTS, web, { metadata: { finalizers: null } }, PERSON);
  await vi.waitFor(async () => {
    expect((await s.f.client.get(DEPLOYMENTS, web)).metadata?.uid).not.toBe(metadata?.uid);
  }, WAIT);
  await s.ready();
});

it('is degraded while pods of a component that was ready are not available', async () => {
  s.kubelet.faults.set('api', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  await vi.waitFor(async () => {
    expect(await s.component('api')).toMatchObject({ state: 'Degraded', reason: 'CrashLoopBackOff', readyReplicas: 0 });
    expect(await state('web')).toBe('Ready');
    expect(await s.condition('Degraded')).toMatchObject({ status: 'True', reason: 'ComponentDegraded' });
  }, WAIT);
  await vi.waitFor(async () => {
    const events = (await s.f.events('main')).map(({ type, reason }) => `${type} ${reason}`);
    expect(events).toEqual(expect.arrayContaining(['Normal AllReady', 'Warning ComponentDegraded']));
  }, WAIT);
  s.kubelet.faults.delete('api');
  await s.ready();
  await vi.waitFor(async () => {
    const notes = (await s.f.events('main')).map(({ reason, note }) => `${reason} ${note}`);
    expect(notes).toContain('ComponentRecovered api is Ready again: Deployment default/api: 2 of 2 pods are available');
    expect(notes.filter((note) => note.startsWith('ComponentDegraded api is Degraded: '))).not.toEqual([]);
  }, WAIT);
});

it('changes what others depend on first, and waits for it', async () => {
  s.kubelet.faults.set('db', { reason: 'ImagePullBackOff', message: 'db:2' });
  await sleep(500);
  const since = s.writes().length;
  const [db, api] = [
    { ...DB, workload: { ...DB.workload, podTemplate: component('db', { image: 'db:2' }).workload.podTemplate } },
    { ...API, workload: { ...API.workload, podTemplate: component('api', { image: 'api:2' }).workload.podTemplate } },
  ];
  await s.change('main', [WEB, api, AGENT, db]);
  await vi.waitFor(async () => {
    expect(await s.component('db')).toMatchObject({ state: 'Progressing', version: 'db:2' });
    expect(await s.component('api')).toMatchObject({
      state: 'Waiting',
      readyReplicas: 2,
      waitingOn: { component: 'db' },
    });
  }, WAIT);
  // The old pod cannot get ready, so the StatefulSet would wait for it.
  await vi.waitFor(() => expect(deletedPods()).not.toEqual([]), WAIT);
  s.kubelet.faults.delete('db');
  await s.ready();
  expect(s.writes().slice(since)).toEqual(['patch statefulsets/db', 'patch deployments/api']);
});

it('has no finalizer after a clean-up, and the components go on running', async () => {
  await s.f.stopOperator();
  const logger = createLogger('silent');
  await cleanUp({ client: s.f.client, logger });
  await cleanUp({ client: s.f.client, logger });
  expect((await s.stack()).metadata?.finalizers).toBeUndefined();
  expect(await s.workloads()).toEqual(['agent', 'api', 'db', 'web']);
  await s.startOperator();
  await vi.waitFor(async () => expect((await s.stack()).metadata?.finalizers).toEqual([FINALIZER]), WAIT);
});

it('is deleted in the reverse order, also over restarts, and leaves nothing', async () => {
  const before = s.deletions().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  for (let round = 0; round < 3; round += 1) await s.restartOperator().then(() => sleep(300));
  await s.f.stopOperator();
  await s.startOperator();
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(await s.workloads()).toEqual([]);
  expect(await s.f.client.list(PODS)).toEqual([]);
  expect((await s.f.client.list(SERVICES)).map(({ metadata }) => metadata?.name)).toEqual(['kubernetes']);
  const order = s
    .deletions()
    .slice(before)
    .filter((name) => name !== 'agent');
  expect([...new Set(order)]).toEqual(['web', 'api', 'db']);
});

it('uses each of its rights, and none that it does not have', () => {
  // Those on the others: settings.test.ts, rollback.test.ts, builtIns.test.ts, builtInRules.test.ts and builtInFaults.test.ts.
  const others = [
    ...['configmaps', 'poddisruptionbudgets', 'controllerrevisions'],
    ...['serviceaccounts', 'prometheusrules', 'events'],
  ];
  const isUsedHere = (resource: string): boolean => !others.includes(resource);
  expect(unusedRights(s, USER, isUsedHere)).toEqual([
    // For the stack of the operator: defaultStack.test.ts.
    'create trafficstacks',
    'delete trafficstacks',
    // The admission plugin OwnerReferencesPermissionEnforcement asks for it.
    'update trafficstacks/finalizers',
    // A server-side apply that creates an object needs the right, and is a patch.
    ...['deployments', 'statefulsets', 'daemonsets', 'services'].map((resource) => `create ${resource}`),
  ]);
});
