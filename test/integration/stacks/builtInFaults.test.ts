import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import type { ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import type { ObjectRef } from '../../../src/runtime/client/resource.ts';
import { PODS } from '../../../src/runtime/client/resources.ts';
import { audited } from '../../harness/audit.ts';
import { connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { measured, seconds, sleep } from '../../harness/measured.ts';
import { EXPORTER, Installation, OPERATOR, PROMETHEUS } from './installation.ts';
import type { Fault } from './kubelet.ts';
import { makeQuota, removeQuota } from './quota.ts';
import { component, unusedRights, WAIT, type StackScene } from './scene.ts';

/** Faults of built-in components, whose pods have no label of the stack: what is wrong is told as for any other component. */
const USER = 'stack-built-in-faults';
const SERVER = { namespace: OPERATOR.namespace, name: 'netchecker-server' };
const AGENTS = { namespace: `${OPERATOR.namespace}-connectivity`, name: 'netchecker-agent' };
const HOST_AGENTS = { ...AGENTS, name: 'netchecker-agent-hostnet' };
const QUIET_MS = 25_000;
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER, ['resourcequota-controller']);
  s = i.scene;
  await installCrd(s.f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await i.startOperator('--connectivity', '--connectivity-image=ours:1');
  await s.create('main', builtIns());
  await s.ready();
});
afterAll(() => i.stop());

/** All of them. @param over settings, by component */
function builtIns(over: Readonly<Record<string, Partial<ComponentSpec>>> = {}): ComponentSpec[] {
  const all: ComponentSpec[] = [
    { name: 'exporter', type: 'NodeExporter' },
    { name: 'metrics', type: 'Prometheus' },
    { name: 'server', type: 'ConnectivityServer' },
    { name: 'agents', type: 'ConnectivityAgents' },
  ];
  return all.map((each) => ({ ...each, ...over[each.name] }));
}

/** One fault of one component. */
interface Row {
  readonly title: string;
  readonly component: string;
  readonly workload: ObjectRef & { readonly kind: string };
  readonly settings?: Partial<ComponentSpec>;
  /** What the kubelet reports of the pods of the workload. */
  readonly fault?: Fault;
  /** No pod may be created in the namespace of the workload, and those that are there are deleted. */
  readonly hasQuota?: true;
  readonly reason: string;
  /** What the message has after the number of pods. */
  readonly cause: RegExp;
}

const DEPLOYMENT = { kind: 'Deployment' };
const DAEMON_SET = { kind: 'DaemonSet' };
const missing: Fault = { reason: 'ErrImagePull', message: 'missing:1: not found' };
const refused = 'is forbidden: exceeded quota: none, requested: pods=1, used: pods=\\d, limited: pods=0';
const ROWS: readonly Row[] = [
  {
    ...{ title: 'a missing image of node-exporter', component: 'exporter', workload: { ...EXPORTER, ...DAEMON_SET } },
    ...{ settings: { nodeExporter: { image: 'missing:1' } }, fault: missing, reason: 'ErrImagePull' },
    cause: /pod \S+\/node-exporter-\w+, container node-exporter: ErrImagePull: missing:1: not found$/,
  },
  {
    ...{ title: 'a Prometheus that crashes', component: 'metrics', workload: { ...PROMETHEUS, ...DEPLOYMENT } },
    fault: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting', exitCode: 2, restarts: 4 },
    reason: 'CrashLoopBackOff',
    cause:
      /pod \S+\/prometheus-\w+-\w+, container prometheus: CrashLoopBackOff: back-off 40s restarting; it ended with exit code 2, 4 restarts$/,
  },
  {
    ...{ title: 'no room for Prometheus', component: 'metrics', workload: { ...PROMETHEUS, ...DEPLOYMENT } },
    settings: { prometheus: { resources: { requests: { cpu: '999' } } } },
    reason: 'Unschedulable',
    cause: /pod \S+\/prometheus-\w+-\w+: 0\/1 nodes are available: 1 Insufficient cpu/,
  },
  {
    ...{ title: 'a missing image of the agents', component: 'agents', workload: { ...AGENTS, ...DAEMON_SET } },
    ...{ fault: missing, reason: 'ErrImagePull' },
    cause: /pod \S+\/netchecker-agent-\w+, container \S+: ErrImagePull: missing:1: not found$/,
  },
  {
    ...{ title: 'a volume of the agents of nodes', component: 'agents', workload: { ...HOST_AGENTS, ...DAEMON_SET } },
    fault: {
      ...{ reason: 'ContainerCreating', message: '' },
      event: { reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "ca": configmap "x" not found' },
    },
    reason: 'FailedMount',
    cause:
      /pod \S+\/netchecker-agent-hostnet-\w+: FailedMount: MountVolume.SetUp failed for volume "ca": .* not found$/,
  },
  {
    ...{ title: 'a probe of the server', component: 'server', workload: { ...SERVER, ...DEPLOYMENT } },
    fault: { event: { reason: 'Unhealthy', message: 'Readiness probe failed: statuscode: 503' } },
    reason: 'ContainerNotReady',
    cause:
      /pod \S+\/netchecker-server-\w+-\w+, container \S+: running, and not ready; Unhealthy: Readiness probe failed: statuscode: 503$/,
  },
  {
    ...{ title: 'a quota for node-exporter', component: 'exporter', workload: { ...EXPORTER, ...DAEMON_SET } },
    ...{ hasQuota: true, reason: 'FailedCreate', cause: new RegExp(`FailedCreate: .*${refused}$`) },
  },
  {
    ...{ title: 'a quota for the server', component: 'server', workload: { ...SERVER, ...DEPLOYMENT } },
    ...{ hasQuota: true, reason: 'ReplicaFailure', cause: new RegExp(refused) },
  },
];

async function begin({ component: name, workload, settings, fault, hasQuota }: Row): Promise<void> {
  if (fault !== undefined) s.kubelet.faults.set(workload.name, fault);
  if (settings !== undefined) await s.change('main', builtIns({ [name]: settings }));
  if (hasQuota === undefined) return;
  const { namespace = '' } = workload;
  await makeQuota(s, namespace, { pods: '0' });
  for (const pod of await podsOf(workload)) await s.f.client.delete(PODS, { namespace, name: pod });
}

async function end({ workload, hasQuota }: Row): Promise<void> {
  s.kubelet.faults.delete(workload.name);
  if (hasQuota) await removeQuota(s, workload.namespace ?? '');
  await s.change('main', builtIns());
  await s.ready();
}

async function podsOf({ namespace = '', name }: ObjectRef): Promise<string[]> {
  const pods = await s.f.client.list(PODS, { namespace });
  return pods.flatMap(({ metadata }) => metadata?.name ?? []).filter((pod) => pod.startsWith(`${name}-`));
}

/** How often the operator has listed pods and Events from then on, for so long. @param since ms since 1970 */
const listsSince = (since: number, forMs = QUIET_MS): number[] =>
  ['pods', 'events'].map((resource) => {
    const lists = audited(s.f.controlPlane).filter(
      (each) => each.user === USER && each.verb === 'list' && each.resource === resource,
    );
    return lists.filter(({ at }) => at >= since && at < since + forMs).length;
  });

it('reads no pods and no Events while all are ready', async () => {
  const since = Date.now();
  await sleep(QUIET_MS);
  expect(listsSince(since)).toEqual([0, 0]);
});

it.each(ROWS)('is named: $title', async (row) => {
  const { component: name, workload, settings, reason, cause } = row;
  const began = performance.now();
  await begin(row);
  const what = `${workload.kind} ${workload.namespace}/${workload.name}`;
  await vi.waitFor(async () => {
    const found = await s.component(name);
    expect(found).toMatchObject({ reason });
    expect(found?.message).toMatch(new RegExp(`^${what}: \\d of 1 pods are available; `));
    expect(found?.message).toMatch(cause);
  }, WAIT);
  measured(`${row.title}: named after ${seconds(performance.now() - began)}`);

  const image = `web:${ROWS.indexOf(row)}`;
  const web = component('web', { image, dependsOn: [name] });
  await s.change('main', [...builtIns({ ...(settings && { [name]: settings }) }), web]);
  await vi.waitFor(async () => {
    const found = await s.component('web');
    expect(found).toMatchObject({ state: 'Waiting', waitingOn: { component: name, what } });
    expect(found?.waitingOn?.observed).toMatch(cause);
  }, WAIT);
  await end(row);
});

it('reads the pods and Events of one that is not ready at most every 10 s', async () => {
  s.kubelet.faults.set(SERVER.name, {});
  await vi.waitFor(
    async () => expect(await s.component('server')).toMatchObject({ reason: 'ContainerNotReady' }),
    WAIT,
  );
  const since = Date.now();
  await sleep(QUIET_MS);
  for (const count of listsSince(since)) expect(count).toBeLessThanOrEqual(3);
  await vi.waitFor(() => {
    for (const count of listsSince(since, Infinity)) expect(count).toBeGreaterThan(0);
  }, WAIT);
  s.kubelet.faults.delete(SERVER.name);
  await s.ready();
});

it('reads none again after all are ready', async () => {
  const since = Date.now();
  await sleep(QUIET_MS);
  expect(listsSince(since)).toEqual([0, 0]);
});

it('uses its rights on pods and Events, and no more', () => {
  expect(unusedRights(s, USER, (resource) => resource === 'pods' || resource === 'events')).toEqual(['delete pods']);
});
