import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { managersOf } from '../../../src/runtime/apply/managedFields.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { ObjectRef } from '../../../src/runtime/client/resource.ts';
import { CONTROLLER_REVISIONS, DAEMONSETS, DEPLOYMENTS, SERVICES } from '../../../src/runtime/client/resources.ts';
import { connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { imageIn } from './imageIn.ts';
import { EXPORTER, Installation, OPERATOR } from './installation.ts';
import { PERSON, unusedRights, WAIT, type StackScene } from './scene.ts';

/** Built-in components that miss their deadline after a change of their settings, or with another operator. */
const USER = 'stack-built-in-rollback';
const SERVER = { namespace: OPERATOR.namespace, name: 'netchecker-server' };
const AGENTS = ['netchecker-agent', 'netchecker-agent-hostnet'].map((name) => {
  return { namespace: `${OPERATOR.namespace}-connectivity`, name };
});
const FAULT = { reason: 'ErrImagePull', message: 'no such image' };
/** Their pods are in no cache: why they do not start is read every five seconds. */
const SHORT = { deadline: '10s' };
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await installCrd(s.f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  for (const image of ['exporter:bad', 'ours:bad']) s.kubelet.brokenImages.set(image, FAULT);
  await startWith('ours:1');
});
afterAll(() => i.stop());

/** @param image of the operator, and so of the server and the agents */
const startWith = (image: string) => i.startOperator('--connectivity', `--connectivity-image=${image}`);
/** All of them. @param over by component */
function builtIns(over: Readonly<Record<string, Partial<ComponentSpec>>> = {}): ComponentSpec[] {
  const all: ComponentSpec[] = [
    { name: 'exporter', type: 'NodeExporter' },
    { name: 'server', type: 'ConnectivityServer', dependsOn: ['exporter'] },
    { name: 'agents', type: 'ConnectivityAgents', dependsOn: ['server'] },
    { name: 'boards', type: 'Dashboards', dashboards: { namespace: 'default' } },
  ];
  return all.map((each) => ({ ...each, ...over[each.name] }));
}
const change = (over?: Parameters<typeof builtIns>[0]) => s.change('main', builtIns(over));
const imageOf = ({ name }: ObjectRef) => imageIn(s.f.client, name);
/** What is stored in the namespace of the operator, by component. */
const stored = async () =>
  (await s.f.client.list(CONTROLLER_REVISIONS, { namespace: OPERATOR.namespace }))
    .filter(({ metadata }) => metadata?.ownerReferences?.some(({ kind }) => kind === TRAFFIC_STACKS.kind))
    .map(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL])
    .sort();
const rolledBack = (name: string, from: string, to: string, cause = 'ErrImagePull') =>
  vi.waitFor(async () => {
    expect(await s.component(name)).toMatchObject({
      ...{ state: 'Failed', reason: 'RolledBack', version: to },
      rolledBackFrom: { version: from, message: expect.stringContaining(cause) as string },
    });
  }, WAIT);

it('stores each that is ready, in the namespace of the operator', async () => {
  const spec = { upgrade: { rollback: true }, components: builtIns() };
  await s.f.client.create(TRAFFIC_STACKS, { metadata: { name: 'main' }, spec });
  await s.ready();
  expect(await stored()).toEqual(['agents', 'boards', 'exporter', 'server']);
});

it('restores a DaemonSet and its Service, and touches none that depends on it', async () => {
  const [before, server] = [await i.daemonSet(), await s.f.client.get(DEPLOYMENTS, SERVER)];
  const image = before.spec?.template.spec?.containers[0]?.image ?? '';
  await change({
    exporter: { ...SHORT, nodeExporter: { image: 'exporter:bad', port: 9200 } },
    server: { connectivityServer: { allowAnonymous: true } },
  });
  await rolledBack('exporter', 'exporter:bad', image);
  const [daemonSet, service] = [await i.daemonSet(), await s.f.client.get(SERVICES, EXPORTER)];
  expect(daemonSet.spec?.template).toEqual(before.spec?.template);
  expect(service.spec?.ports?.[0]?.port).toBe(9100);
  // As the measurement applies it, so that nobody else owns a field of it.
  const [now, then] = [daemonSet, before].map(({ metadata }) => managersOf(metadata?.managedFields ?? []));
  expect(now).toEqual(then);
  expect(await s.component('server')).toMatchObject({ state: 'Waiting', waitingOn: { component: 'exporter' } });
  expect((await s.f.client.get(DEPLOYMENTS, SERVER)).metadata?.generation).toBe(server.metadata?.generation);
});

it('corrects what others change to what was restored, also after a restart', async () => {
  const image = (await imageOf(EXPORTER)) ?? '';
  await s.f.stopOperator();
  const containers = [{ name: 'node-exporter', image: 'another:1' }];
  await s.f.client.mergePatch(DAEMONSETS, EXPORTER, { spec: { template: { spec: { containers } } } }, PERSON);
  await startWith('ours:1');
  await vi.waitFor(async () => expect(await imageOf(EXPORTER)).toBe(image), WAIT);
  await rolledBack('exporter', 'exporter:bad', image);
});

it('goes on with corrected settings', async () => {
  await change({ exporter: { nodeExporter: { port: 9200 } } });
  await s.ready();
  expect((await s.f.client.get(SERVICES, EXPORTER)).spec?.ports?.[0]?.port).toBe(9200);
  expect(await s.component('exporter')).not.toHaveProperty('rolledBackFrom');
});

it('restores both DaemonSets of the agents', async () => {
  const templates = () =>
    Promise.all(AGENTS.map(async (each) => (await s.f.client.get(DAEMONSETS, each)).spec?.template));
  const before = await templates();
  await change({ agents: { ...SHORT, connectivityAgents: { resources: { requests: { cpu: '999' } } } } });
  await rolledBack('agents', 'ours:1', 'ours:1', 'Insufficient cpu');
  expect(await templates()).toEqual(before);
  await change();
  await s.ready();
});

it('restores what an older operator had applied, if that of a newer one does not get ready', async () => {
  await change({ server: SHORT, agents: { rollback: false } });
  await s.ready();
  // It is deleted after the status is written.
  await vi.waitFor(async () => expect(await stored()).toEqual(['boards', 'exporter', 'server']), WAIT);
  await s.f.stopOperator();
  await startWith('ours:bad');
  await rolledBack('server', 'ours:bad', 'ours:1');
  expect(await imageOf(SERVER)).toBe('ours:1');
  // They come after it.
  expect(await s.component('agents')).toMatchObject({ state: 'Waiting', blockedBy: ['server'] });
  expect(await stored()).toEqual(['boards', 'exporter', 'server']);
  await s.f.stopOperator();
  // Its pods may take longer to start on a busy machine.
  await change();
  await startWith('ours:2');
  await s.ready();
  expect(await imageOf(SERVER)).toBe('ours:2');
});

it('leaves nothing stored when the stack is deleted', async () => {
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  expect(await stored()).toEqual([]);
});

it('needs no rights beside those of workloads', () => {
  expect(unusedRights(s, USER, (resource) => resource === 'controllerrevisions')).toEqual([
    'create controllerrevisions',
  ]);
});
