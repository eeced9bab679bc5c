import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { dashboards } from '../../../dashboards/all.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { CONFIG_MAPS } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { component, expectRefused, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** The dashboards as a component of a stack. */
const USER = 'stack-dashboards';
const NAMES = Object.keys(dashboards()).sort();
const nameOf = (dashboard: string): string => `traffic-operator-dashboard-${dashboard}`;
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
});
afterAll(() => s.stop());

const db = component('db');
const web = component('web', { dependsOn: ['boards'] });
const boards = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'boards', type: 'Dashboards', dependsOn: ['db'], dashboards: { namespace: 'default' } },
  ...over,
});
const becomes = (wanted: object) => s.becomes('boards', wanted);
const maps = async (namespace = 'default'): Promise<V1ConfigMap[]> => {
  const all = await s.f.client.list<V1ConfigMap>(CONFIG_MAPS, { namespace });
  return all.filter(({ metadata }) => metadata?.name?.startsWith(nameOf('')));
};
const dashboardsIn = async (namespace = 'default') =>
  (await maps(namespace)).map(({ metadata }) => metadata?.name?.slice(nameOf('').length)).sort();
const one = (): Promise<V1ConfigMap> => s.f.client.get(CONFIG_MAPS, { namespace: 'default', name: nameOf('nodes') });
/** Writes to workloads and dashboards: those to several dashboards in a row are one. */
const writes = (): string[] => {
  const all = writesOf(s.f.controlPlane, USER).flatMap(({ verb, resource, name }) => {
    if (resource === 'configmaps') return [`${verb} dashboards`];
    return resource === 'deployments' ? [`${verb} ${name}`] : [];
  });
  return all.filter((each, index) => each !== all[index - 1]);
};

it('are created when all that they depend on is ready, and what depends on them after them', async () => {
  s.kubelet.faults.set('db', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  await s.create('main', [web, boards(), db]);
  await becomes({ state: 'Waiting', waitingOn: { component: 'db' } });
  expect(await dashboardsIn()).toEqual([]);
  s.kubelet.faults.delete('db');
  await s.ready();
  expect(await dashboardsIn()).toEqual(NAMES);
  expect(await s.component('boards')).toMatchObject({ type: 'Dashboards', state: 'Ready', reason: 'AllApplied' });
  expect(await s.component('boards')).not.toHaveProperty('replicas');
  expect(writes()).toEqual(['patch db', 'patch dashboards', 'patch web']);
});

it('are what Grafana looks for, of the stack', async () => {
  const { metadata, data = {} } = await one();
  expect(metadata?.labels).toMatchObject({
    ...{ grafana_dashboard: '1', [STACK_LABEL]: 'main', [COMPONENT_LABEL]: 'boards' },
  });
  expect(metadata?.ownerReferences).toMatchObject([{ kind: 'TrafficStack', name: 'main', controller: true }]);
  expect(Object.keys(data)).toEqual(['traffic-operator-nodes.json']);
  expect(JSON.parse(data['traffic-operator-nodes.json'] ?? '')).toEqual(JSON.parse(JSON.stringify(dashboards().nodes)));
});

it('are corrected if somebody changes or deletes one', async () => {
  const { data, metadata } = await one();
  const ref = { namespace: 'default', name: nameOf('nodes') };
  await s.f.client.mergePatch(CONFIG_MAPS, ref, { data: { 'traffic-operator-nodes.json': '{}' } }, PERSON);
  await vi.waitFor(async () => expect((await one()).data).toEqual(data), WAIT);
  await s.f.client.delete(CONFIG_MAPS, ref);
  await vi.waitFor(async () => {
    const again = await one();
    expect([again.data, again.metadata?.uid === metadata?.uid]).toEqual([data, false]);
  }, WAIT);
  await s.ready();
});

it('have the labels and annotations of the stack, and no others after it changes', async () => {
  const annotations = { grafana_folder: 'Network' };
  const uid = (await one()).metadata?.uid;
  await s.change('main', [
    web,
    boards({ dashboards: { namespace: 'default', labels: { board: 'yes' }, annotations } }),
    db,
  ]);
  await s.ready();
  const { metadata } = await one();
  expect(metadata).toMatchObject({ uid, annotations, labels: { board: 'yes', [STACK_LABEL]: 'main' } });
  expect(metadata?.labels).not.toHaveProperty('grafana_dashboard');
});

it('of a second stack are refused', () =>
  expectRefused(s, boards({ dependsOn: [] }), { object: `ConfigMap default/${nameOf('connectivity')}` }));

it('move to another namespace: those of the old one are deleted when the new ones are there', async () => {
  await s.change('main', [web, boards({ dashboards: { namespace: 'kube-public' } }), db]);
  await s.ready();
  expect(await dashboardsIn('kube-public')).toEqual(NAMES);
  await vi.waitFor(async () => expect(await dashboardsIn()).toEqual([]), WAIT);
});

it('of somebody else, as of the chart, are left as they are until they are gone', async () => {
  const metadata = { namespace: 'default', name: nameOf('nodes'), labels: { 'app.kubernetes.io/managed-by': 'Helm' } };
  const made = await s.f.client.create(CONFIG_MAPS, { metadata, data: { x: 'y' } }, PERSON);
  await s.change('main', [web, boards(), db]);
  await becomes({
    ...{ state: 'Failed', reason: 'ForeignObject' },
    message: `ConfigMap default/${nameOf('nodes')} exists and is not of this stack, but of the field manager person: it is left as it is`,
  });
  expect((await one()).metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
  await s.f.client.delete(CONFIG_MAPS, { namespace: 'default', name: nameOf('nodes') });
  await s.ready();
  expect(await dashboardsIn()).toEqual(NAMES);
});

it('are deleted with mode Disabled, and with the stack in the order of the dependencies', async () => {
  await s.change('main', [db, boards({ mode: 'Disabled' })]);
  await vi.waitFor(async () => expect(await dashboardsIn()).toEqual([]), WAIT);
  // Until also web is gone: while it is being deleted, it still counts as ready.
  await s.ready();
  await s.change('main', [web, boards(), db]);
  await s.ready();
  const before = writes().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(writes().slice(before)).toEqual(['delete web', 'delete dashboards', 'delete db']);
  expect(await dashboardsIn()).toEqual([]);
});
