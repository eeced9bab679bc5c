import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { createAuthority } from '../../../src/runtime/testing/certificates.ts';
import { writesOf, type AuditedRequest } from '../../harness/audit.ts';
import { connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { identity, Installation, OPERATOR, ownersOf } from './installation.ts';
import { component, expectRefused, PERSON, WAIT, type StackScene } from './scene.ts';

/** A stack takes over the server and the agents of the connectivity check, and gives them back. */
const USER = 'stack-connectivity';
const SERVER = { namespace: OPERATOR.namespace, name: 'netchecker-server' };
const AGENTS = { namespace: `${OPERATOR.namespace}-connectivity`, name: 'netchecker-agent' };
const HOST_AGENTS = { ...AGENTS, name: 'netchecker-agent-hostnet' };
const SERVER_CA = { ...AGENTS, name: 'netchecker-server-ca' };
const DEPLOY = ['--connectivity', '--connectivity-image=ours:1'];
const FIRST_CHECK = 'traffic.example.com/first-connectivity-check';
const HOST_AGENTS_ID = `DaemonSet ${HOST_AGENTS.namespace}/${HOST_AGENTS.name}`;
let i: Installation;
let s: StackScene;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-stack-ca-'));
  i = await Installation.start(USER);
  s = i.scene;
  await installCrd(s.f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await startOperator();
});
afterAll(async () => {
  await i.stop();
  await rm(directory, { recursive: true, force: true });
});

async function startOperator(...args: readonly string[]): Promise<void> {
  await s.f.startOperator([...DEPLOY, '--stacks', ...args], { kubeconfig: s.kubeconfig });
}
const serverNow = (): Promise<V1Deployment> => s.f.client.get(DEPLOYMENTS, SERVER);
const agentsNow = (): Promise<V1DaemonSet[]> =>
  Promise.all([AGENTS, HOST_AGENTS].map((ref) => s.f.client.get(DAEMONSETS, ref)));
const workloadsNow = async (): Promise<(V1Deployment | V1DaemonSet)[]> => [await serverNow(), ...(await agentsNow())];
const podsNow = async () =>
  (await Promise.all([SERVER, AGENTS].map(({ namespace }) => s.f.client.list(PODS, { namespace }))))
    .flat()
    .map(({ metadata }) => metadata?.uid)
    .sort();
const checks = async () => (await s.f.client.list(CONNECTIVITY_CHECKS)).map(({ metadata }) => metadata?.name);
const firstCheckNote = async () => (await serverNow()).metadata?.annotations?.[FIRST_CHECK];
const deployed = () =>
  vi.waitFor(async () => {
    expect((await serverNow()).status).toMatchObject({ availableReplicas: 1 });
    for (const each of await agentsNow()) expect(each.status).toMatchObject({ numberAvailable: 1 });
    expect(await firstCheckNote()).toBe('true');
  }, WAIT);
/** What the operator wrote to all but its custom resources and events, after so many writes. */
const writesAfter = (count: number): string[] =>
  all()
    .slice(count)
    .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
const all = (): AuditedRequest[] =>
  writesOf(s.f.controlPlane, USER).filter(
    ({ resource, name }) =>
      !/^(trafficstacks|connectivitychecks|events|nodes)/.test(resource) && name !== 'node-exporter',
  );
/** Both controllers see this, and it is of neither. */
const annotateAll = async (value: string): Promise<void> => {
  const note = { metadata: { annotations: { 'example.com/note': value } } };
  await s.f.client.mergePatch(DEPLOYMENTS, SERVER, note, PERSON);
  for (const ref of [AGENTS, HOST_AGENTS]) await s.f.client.mergePatch(DAEMONSETS, ref, note, PERSON);
};

const server = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'server', type: 'ConnectivityServer' },
  ...over,
});
const agents = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'agents', type: 'ConnectivityAgents', dependsOn: ['server'] },
  ...over,
});
const web = component('web', { dependsOn: ['agents'] });

it('adopts what the controller has deployed: no pod restarts, and one controller writes', async () => {
  await deployed();
  const before = await workloadsNow();
  expect(before.map(ownersOf)).toEqual([['Deployment traffic-operator'], [], []]);
  const pods = await podsNow();
  await s.create('main', [agents(), server()]);
  await s.ready();

  const after = await workloadsNow();
  expect(after.map(identity)).toEqual(before.map(identity));
  // That of a Deployment also counts its annotations.
  expect(after.slice(1).map(({ metadata }) => metadata?.generation)).toEqual([1, 1]);
  expect(await podsNow()).toEqual(pods);
  for (const each of after) {
    expect(ownersOf(each)).toEqual(['TrafficStack main']);
    expect(each.metadata?.labels).toMatchObject({ [STACK_LABEL]: 'main' });
    expect(each.spec?.template.metadata?.labels).not.toHaveProperty(STACK_LABEL);
  }
  expect(await s.component('server')).toMatchObject({ replicas: 1, readyReplicas: 1, version: 'ours:1' });
  // One of each DaemonSet.
  expect(await s.component('agents')).toMatchObject({ replicas: 2, readyReplicas: 2, version: 'ours:1' });
});

it('writes nothing while nothing changes, also after a restart', async () => {
  await s.f.client.delete(CONNECTIVITY_CHECKS, { name: 'default' });
  const before = all().length;
  await annotateAll('one');
  await s.f.stopOperator();
  await startOperator();
  await annotateAll('two');
  // What is written proves that those before were seen.
  const service = { namespace: SERVER.namespace, name: 'netchecker-service' };
  await s.f.client.mergePatch(SERVICES, service, { metadata: { labels: { [STACK_LABEL]: 'x' } } }, PERSON);
  await vi.waitFor(() => expect(writesAfter(before)).not.toEqual([]), WAIT);
  await s.ready();
  expect(writesAfter(before)).toEqual(['patch services/netchecker-service']);
  // The note of the first one outlasts the adoption.
  expect([await checks(), await firstCheckNote()]).toEqual([[], 'true']);
});

it('has its first ConnectivityCheck from the controller also if a stack has deployed the server', async () => {
  await s.f.client.mergePatch(DEPLOYMENTS, SERVER, { metadata: { annotations: { [FIRST_CHECK]: null } } }, PERSON);
  await vi.waitFor(async () => expect([await checks(), await firstCheckNote()]).toEqual([['default'], 'true']), WAIT);
});

it('is as its worst workload is, which others wait for by name', async () => {
  s.kubelet.faults.set(HOST_AGENTS.name, { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  const message = new RegExp(`${HOST_AGENTS_ID}: 0 of 1 pods are available; pod .*: back-off restarting$`);
  await vi.waitFor(async () => {
    expect(await s.component('agents')).toMatchObject({
      ...{ state: 'Degraded', reason: 'CrashLoopBackOff', replicas: 2, readyReplicas: 1 },
      message: expect.stringMatching(message) as string,
    });
  }, WAIT);
  await s.change('main', [server(), agents(), web]);
  await vi.waitFor(async () => {
    expect((await s.component('web'))?.waitingOn).toMatchObject({
      ...{ component: 'agents', what: HOST_AGENTS_ID },
      observed: expect.stringMatching(message) as string,
    });
  }, WAIT);
  s.kubelet.faults.delete(HOST_AGENTS.name);
  await s.ready();
});

it('has the settings of the stack', async () => {
  await s.change('main', [server(), agents()]);
  await s.ready();
  const before = all().length;
  const resources = { limits: { memory: '96Mi' } };
  const tolerations = [{ key: 'infra', operator: 'Exists' }];
  const settings = [
    server({ connectivityServer: { tolerations, resources } }),
    agents({ connectivityAgents: { resources } }),
  ];
  await s.change('main', settings);
  await s.ready();
  expect((await serverNow()).spec?.template.spec?.tolerations).toEqual(tolerations);
  for (const each of await workloadsNow())
    expect(each.spec?.template.spec?.containers[0]?.resources).toEqual(resources);
  await annotateAll('three');
  await s.change('main', [...settings, { ...web, mode: 'Disabled' }]);
  await s.ready();
  expect(writesAfter(before)).toEqual([
    'patch deployments/netchecker-server',
    'patch daemonsets/netchecker-agent',
    'patch daemonsets/netchecker-agent-hostnet',
  ]);
});

it('is refused to a second stack, by name', async () => {
  const object = `ServiceAccount ${AGENTS.namespace}/netchecker-agent`;
  await expectRefused(s, agents({ name: 'mine', dependsOn: [] }), { object, of: 'agents' });
});

it('with TLS, has the CA of the server from the controller', async () => {
  const file = join(directory, 'ca.crt');
  const ca = createAuthority('server').cert;
  await writeFile(file, ca);
  await s.f.stopOperator();
  await startOperator('--connectivity-tls-secret=server-tls', `--connectivity-server-ca-file=${file}`);
  await vi.waitFor(async () => {
    const { data, metadata } = await s.f.client.get(CONFIG_MAPS, SERVER_CA);
    expect([data?.['ca.crt'], metadata?.labels?.[STACK_LABEL]]).toEqual([ca, undefined]);
    for (const { spec } of await agentsNow()) {
      expect(spec?.template.spec?.containers[0]?.args).toContain(
        '--server-ca-file=/var/run/secrets/traffic-operator/server-ca.crt',
      );
    }
  }, WAIT);
  await s.ready();
  expect((await workloadsNow()).map(ownersOf)).toEqual(Array(3).fill(['TrafficStack main']));
  await s.f.stopOperator();
  await startOperator();
  await vi.waitFor(() => expect(s.f.client.get(CONFIG_MAPS, SERVER_CA)).rejects.toSatisfy(isNotFound), WAIT);
  await s.ready();
});

it('is of the controller while no stack is run, and of the stack after that', async () => {
  await s.f.stopOperator();
  await s.f.startOperator(DEPLOY, { kubeconfig: s.kubeconfig });
  const ofOperator = [['Deployment traffic-operator'], [], []];
  await vi.waitFor(async () => expect((await workloadsNow()).map(ownersOf)).toEqual(ofOperator), WAIT);
  await s.f.stopOperator();
  await startOperator();
  const ofStack = Array(3).fill(['TrafficStack main']);
  await vi.waitFor(async () => expect((await workloadsNow()).map(ownersOf)).toEqual(ofStack), WAIT);
});

it('has no agents while the stack disables them, and no namespace of theirs', async () => {
  await s.change('main', [server(), agents({ mode: 'Disabled' })]);
  const namespace = () => s.f.client.get(NAMESPACES, { name: AGENTS.namespace });
  await vi.waitFor(() => expect(namespace()).rejects.toSatisfy(isNotFound), WAIT);
  await s.ready();
  await s.change('main', [server(), agents()]);
  await s.ready();
});

it('is deployed by the controller again when all objects of its type are gone, and not before', async () => {
  const uids = (await workloadsNow()).map(({ metadata }) => metadata?.uid);
  const before = all().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await deployed();
  const after = await workloadsNow();
  expect(after.map(({ metadata }) => metadata?.uid).filter((uid) => uids.includes(uid))).toEqual([]);
  for (const each of after) expect(each.metadata?.labels).not.toHaveProperty(STACK_LABEL);
  expect(after.map(ownersOf)).toEqual([['Deployment traffic-operator'], [], []]);
  for (const type of [/\/netchecker-agent/, /\/netchecker-ser/]) {
    const verbs = writesAfter(before).flatMap((write) => (type.test(write) ? write.split(' ')[0] : []));
    expect(verbs.join(' ')).toMatch(/^(delete )+patch( patch)*$/);
  }
});

it('is refused if one of its DaemonSets is of somebody else, which stays as it is', async () => {
  await s.f.stopOperator();
  await s.f.client.delete(DAEMONSETS, HOST_AGENTS);
  const labels = { app: 'theirs' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'theirs', image: 'theirs:1' }] } };
  await vi.waitFor(() => expect(s.f.client.get(DAEMONSETS, HOST_AGENTS)).rejects.toSatisfy(isNotFound), WAIT);
  const spec = { selector: { matchLabels: labels }, template };
  const theirs = await s.f.client.create(DAEMONSETS, { metadata: HOST_AGENTS, spec }, PERSON);
  const [own] = await agentsNow();
  await s.create('main', [agents({ dependsOn: [] })]);
  await startOperator();
  await vi.waitFor(async () => {
    expect(await s.component('agents')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: `${HOST_AGENTS_ID} exists and is not of this stack, but of the field manager person: it is left as it is`,
    });
  }, WAIT);
  expect((await agentsNow()).map(identity)).toEqual([own, theirs].map((each) => each && identity(each)));
});
