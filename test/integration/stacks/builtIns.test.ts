import type { V1ConfigMap, V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { managersOf } from '../../../src/runtime/apply/managedFields.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  PODS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { connectivityCheckCrd, installCrd } from '../../harness/customResource.ts';
import { measured, seconds } from '../../harness/measured.ts';
import { SLACK } from '../../harness/slack.ts';
import { EXPORTER, Installation, OPERATOR, ownersOf, PROMETHEUS } from './installation.ts';
import type { Fault } from './kubelet.ts';
import { makeQuota, removeQuota } from './quota.ts';
import { component, PERSON, unusedRights, USER, WAIT, type StackScene } from './scene.ts';

/**
 * The built-in components with pods, in a stack of a user. That the stack `default` adopts what an earlier version has deployed is in
 * defaultStack.test.ts. What their objects contain by which setting is in the tests of src/controllers/measurement/components and src/controllers/connectivity/components.
 */
const SERVER = { namespace: OPERATOR.namespace, name: 'netchecker-server' };
const AGENTS = { namespace: `${OPERATOR.namespace}-connectivity`, name: 'netchecker-agent' };
const HOST_AGENTS = { ...AGENTS, name: 'netchecker-agent-hostnet' };
const BROKEN = { reason: 'ErrImagePull', message: 'no such image' };
/**
 * The pods of built-in components are in no cache: why they do not start is read every five seconds, and what was read by then is the reason that
 * stays.
 */
const SHORT = { deadline: `${Math.max(10, 4 * SLACK)}s` };
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER, ['resourcequota-controller']);
  s = i.scene;
  await installCrd(s.f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  for (const image of ['exporter:bad', 'ours:bad']) s.kubelet.brokenImages.set(image, BROKEN);
  await startWith('ours:1');
});
afterAll(() => i.stop());

/** @param image of the operator, and so of the server and the agents */
const startWith = (image: string) =>
  i.startOperator('--default-stack=false', '--connectivity', `--connectivity-image=${image}`);
async function restartWith(image: string): Promise<void> {
  await s.f.stopOperator();
  await startWith(image);
}

/** All of them. @param over by component */
function builtIns(over: Readonly<Record<string, Partial<ComponentSpec>>> = {}): ComponentSpec[] {
  const all: ComponentSpec[] = [
    { name: 'exporter', type: 'NodeExporter' },
    { name: 'metrics', type: 'Prometheus', dependsOn: ['exporter'] },
    { name: 'server', type: 'ConnectivityServer', dependsOn: ['exporter'] },
    { name: 'agents', type: 'ConnectivityAgents', dependsOn: ['server'] },
  ];
  return all.map((each) => ({ ...each, ...over[each.name] }));
}
const change = (over?: Parameters<typeof builtIns>[0]) => s.change('main', builtIns(over));
const serverNow = (): Promise<V1Deployment> => s.f.client.get(DEPLOYMENTS, SERVER);
const daemonSets = (): Promise<V1DaemonSet[]> =>
  Promise.all([EXPORTER, AGENTS, HOST_AGENTS].map((ref) => s.f.client.get(DAEMONSETS, ref)));
const workloads = async (): Promise<(V1DaemonSet | V1Deployment)[]> => [
  ...(await daemonSets()),
  ...[await i.deployment(), await serverNow()],
];
const imageOf = ({ spec }: V1DaemonSet | V1Deployment) => spec?.template.spec?.containers[0]?.image;
const OF_STACK = Array(5).fill(['TrafficStack main']);

const all = () =>
  writesOf(s.f.controlPlane, USER).filter(
    ({ resource, name }) =>
      !/^(trafficstacks|connectivitychecks|events|controllerrevisions|pods)/.test(resource) &&
      !/^prometheus-(agent-)?targets/.test(name),
  );
/** The writes of the operator to all but custom resources, Events, targets and stored revisions, after so many writes. */
const writesAfter = (count: number): string[] =>
  all()
    .slice(count)
    .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
/** The controllers see this, and it is of none of them. */
const annotateAll = async (value: string): Promise<void> => {
  const note = { metadata: { annotations: { 'example.com/note': value } } };
  for (const ref of [EXPORTER, AGENTS, HOST_AGENTS]) await s.f.client.mergePatch(DAEMONSETS, ref, note, PERSON);
  for (const ref of [PROMETHEUS, SERVER]) await s.f.client.mergePatch(DEPLOYMENTS, ref, note, PERSON);
};

const web = component('web', {
  dependsOn: ['metrics'],
  workload: {
    config: [
      {
        name: 'etc',
        mountPath: '/etc/web',
        files: { url: 'http://${components.metrics.addresses[0]}:${components.metrics.ports.web}' },
      },
    ],
  },
});

it('are made by the stack, which marks the objects alone, and not their pods', async () => {
  await s.create('main', [web, ...builtIns()]);
  await s.ready();

  const after = await workloads();
  expect(after.map(ownersOf)).toEqual(OF_STACK);
  for (const { metadata, spec } of after) {
    expect(metadata?.labels).toMatchObject({ [STACK_LABEL]: 'main' });
    expect(spec?.template.metadata?.labels).not.toHaveProperty(STACK_LABEL);
  }
  expect(await s.component('exporter')).toMatchObject({ replicas: 1, readyReplicas: 1, version: imageOf(after[0]!) });
  // One of each DaemonSet.
  expect(await s.component('agents')).toMatchObject({ replicas: 2, readyReplicas: 2, version: 'ours:1' });
  const [file] = (await s.f.client.list<V1ConfigMap>(CONFIG_MAPS, { namespace: 'default' })).filter(
    ({ metadata }) => metadata?.labels?.[COMPONENT_LABEL] === 'web',
  );
  expect(file?.data).toEqual({ url: 'http://prometheus.traffic-operator-system.svc:9090' });
});

it('are not written while nothing changes, also after a restart, and corrected once', async () => {
  const before = all().length;
  await annotateAll('one');
  await restartWith('ours:1');
  await annotateAll('two');
  // What is written proves that those before were seen.
  for (const name of ['prometheus', 'netchecker-service']) {
    const label = { metadata: { labels: { [STACK_LABEL]: 'x' } } };
    await s.f.client.mergePatch(SERVICES, { namespace: OPERATOR.namespace, name }, label, PERSON);
  }
  const containers = [{ name: 'node-exporter', image: 'another:1' }];
  await s.f.client.mergePatch(DAEMONSETS, EXPORTER, { spec: { template: { spec: { containers } } } }, PERSON);
  await s.f.client.delete(SERVICE_ACCOUNTS, PROMETHEUS);
  await vi.waitFor(() => expect(writesAfter(before).length).toBeGreaterThanOrEqual(4), WAIT);
  await s.ready();
  expect(writesAfter(before).sort()).toEqual([
    'patch daemonsets/node-exporter',
    'patch serviceaccounts/prometheus',
    'patch services/netchecker-service',
    'patch services/prometheus',
  ]);
  const series = (await (await fetch(s.f.operator().metricsUrl)).text()).split('\n');
  expect(series).toContain('traffic_operator_measurement_problems 0');
});

it('have the settings of the stack, and what is common to it, and without that are exactly as before', async () => {
  const templates = async () => (await workloads()).map(({ spec }) => spec?.template);
  const before = await templates();
  const resources = { limits: { memory: '64Mi' } };
  const tolerations = [{ key: 'infra', operator: 'Exists' }];
  const written = all().length;
  await change({
    exporter: { nodeExporter: { port: 9200, resources } },
    server: { connectivityServer: { resources } },
    agents: { connectivityAgents: { resources } },
  });
  await s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'main' }, { spec: { common: { tolerations } } }, PERSON);
  await s.ready();
  const [exporter, agents, hostAgents, , server] = (await templates()).map((each) => each?.spec?.containers[0]);
  for (const container of [exporter, agents, hostAgents, server]) expect(container?.resources).toEqual(resources);
  expect(exporter?.args?.[0]).toBe('--web.listen-address=[$(IP)]:9200');
  expect((await i.deployment()).spec?.template.spec?.tolerations).toEqual(tolerations);
  expect(new Set(writesAfter(written))).toContain('patch services/node-exporter');
  await s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'main' }, { spec: { common: null } }, PERSON);
  await change();
  await s.ready();
  expect(await templates()).toEqual(before);
});

/** One fault of one component. */
interface Row {
  readonly component: string;
  readonly workload: { readonly kind: string; readonly namespace: string; readonly name: string };
  /** The kubelet's report of the pods of the workload. Absent: no pod may be created in its namespace. */
  readonly fault?: Fault;
  readonly reason: string;
  /** The text of the message after the number of pods. */
  readonly cause: RegExp;
  readonly why: string;
}
const ROWS: readonly Row[] = [
  {
    ...{ component: 'exporter', workload: { kind: 'DaemonSet', ...EXPORTER } },
    ...{ fault: { reason: 'ErrImagePull', message: 'missing:1: not found' }, reason: 'ErrImagePull' },
    cause: /pod \S+\/node-exporter-\w+, container node-exporter: ErrImagePull: missing:1: not found$/,
    why: 'its pods have no label of the stack, and are listed',
  },
  {
    ...{ component: 'agents', workload: { kind: 'DaemonSet', ...HOST_AGENTS }, reason: 'FailedMount' },
    fault: {
      ...{ reason: 'ContainerCreating', message: '' },
      event: { reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "ca": configmap "x" not found' },
    },
    cause:
      /pod \S+\/netchecker-agent-hostnet-\w+: FailedMount: MountVolume.SetUp failed for volume "ca": .* not found$/,
    why: 'only Events tell it, and it is the worse one of two workloads',
  },
  {
    ...{ component: 'server', workload: { kind: 'Deployment', ...SERVER }, reason: 'ReplicaFailure' },
    cause: /is forbidden: exceeded quota: none, requested: pods=1, used: pods=\d, limited: pods=0/,
    why: 'there is no pod that could tell it',
  },
];

it.each(ROWS)('are named if something is wrong: $component, $reason: $why', async (row) => {
  const { component: name, workload, fault, reason, cause } = row;
  const { kind, namespace, name: ofWorkload } = workload;
  const began = performance.now();
  if (fault !== undefined) s.kubelet.faults.set(ofWorkload, fault);
  else await makeQuota(s, namespace, { pods: '0' });
  for (const { metadata } of await s.f.client.list(PODS, { namespace })) {
    const pod = metadata?.name ?? '';
    if (pod.startsWith(`${ofWorkload}-`)) await s.f.client.delete(PODS, { namespace, name: pod });
  }
  const what = `${kind} ${namespace}/${ofWorkload}`;
  await vi.waitFor(async () => {
    const found = await s.component(name);
    expect(found).toMatchObject({ reason });
    expect(found?.message).toMatch(new RegExp(`^${what}: \\d of 1 pods are available; `));
    expect(found?.message).toMatch(cause);
  }, WAIT);
  measured(`${name}, ${reason}: named after ${seconds(performance.now() - began)}`);
  await s.change('main', [...builtIns(), component('waits', { dependsOn: [name] })]);
  await s.becomes('waits', {
    ...{ state: 'Waiting' },
    waitingOn: { component: name, what, observed: expect.stringMatching(cause) as string },
  });
  s.kubelet.faults.delete(ofWorkload);
  if (fault === undefined) await removeQuota(s, namespace);
  await change();
  await s.ready();
});

describe('that miss their deadline', () => {
  /** The stored revisions in the namespace of the operator, by component. */
  const stored = async () =>
    (await s.f.client.list(CONTROLLER_REVISIONS, { namespace: OPERATOR.namespace }))
      .filter(({ metadata }) => metadata?.ownerReferences?.some(({ kind }) => kind === TRAFFIC_STACKS.kind))
      .map(({ metadata }) => metadata?.labels?.[COMPONENT_LABEL])
      .sort();
  const areRolledBack = (name: string, from: string, to: string | undefined) =>
    s.becomes(name, {
      ...{ state: 'Failed', reason: 'RolledBack', version: to },
      rolledBackFrom: { version: from, message: expect.stringContaining('ErrImagePull') as string },
    });

  it('after a change of their settings are restored, and what depends on them is not touched', async () => {
    await s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'main' }, { spec: { upgrade: { rollback: true } } }, PERSON);
    await vi.waitFor(async () => expect(await stored()).toEqual(['agents', 'exporter', 'metrics', 'server']), WAIT);
    const [before, server] = [await i.daemonSet(), await serverNow()];
    await change({
      exporter: { ...SHORT, nodeExporter: { image: 'exporter:bad', port: 9200 } },
      server: { connectivityServer: { allowAnonymous: true } },
    });
    await areRolledBack('exporter', 'exporter:bad', imageOf(before));
    const after = await i.daemonSet();
    expect(after.spec?.template).toEqual(before.spec?.template);
    expect((await s.f.client.get(SERVICES, EXPORTER)).spec?.ports?.[0]?.port).toBe(9100);
    // As before, so that nobody else owns a field of it.
    const [now, then] = [after, before].map(({ metadata }) => managersOf(metadata?.managedFields ?? []));
    expect(now).toEqual(then);
    expect(await s.component('server')).toMatchObject({ state: 'Waiting', waitingOn: { component: 'exporter' } });
    expect((await serverNow()).metadata?.generation).toBe(server.metadata?.generation);
    await change();
    await s.ready();
  });

  it('with a newer operator are the objects of the older one again, until there is a better one', async () => {
    await change({ server: SHORT });
    await s.ready();
    await restartWith('ours:bad');
    await areRolledBack('server', 'ours:bad', 'ours:1');
    expect(imageOf(await serverNow())).toBe('ours:1');
    // They come after it.
    expect(await s.component('agents')).toMatchObject({ state: 'Waiting', blockedBy: ['server'] });
    await s.f.stopOperator();
    // Its pods may take longer to start on a busy machine.
    await change();
    await startWith('ours:2');
    await s.ready();
    expect(imageOf(await serverNow())).toBe('ours:2');
  });
});

it('are off while the stack says so, with their namespaces, and wait for what they depend on then', async () => {
  await change({
    exporter: { mode: 'Disabled' },
    agents: { mode: 'Disabled' },
    metrics: { dependsOn: [] },
    server: { dependsOn: [] },
  });
  await i.exporterIsGone();
  const namespace = { name: AGENTS.namespace };
  await vi.waitFor(() => expect(s.f.client.get(NAMESPACES, namespace)).rejects.toSatisfy(isNotFound), WAIT);
  await s.ready();
  s.kubelet.faults.set('db', BROKEN);
  await s.change('main', [...builtIns({ exporter: { dependsOn: ['db'] } }), component('db')]);
  await s.becomes('exporter', { state: 'Waiting', waitingOn: { component: 'db' } });
  // The measurement has seen this stack, too, and leaves its DaemonSet to it.
  await vi.waitFor(() => s.f.client.get(NAMESPACES, { name: EXPORTER.namespace }), WAIT);
  await expect(i.daemonSet()).rejects.toSatisfy(isNotFound);
  s.kubelet.faults.delete('db');
  await s.ready();
});

it('are gone when the stack is, and nobody makes them again', async () => {
  const before = all().length;
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await vi.waitFor(async () => expect(await s.workloads()).toEqual([OPERATOR.name]), WAIT);
  for (const type of [/\/prometheus$/, /\/node-exporter$/, /\/netchecker-agent/, /\/netchecker-ser/]) {
    const verbs = writesAfter(before).flatMap((write) => (type.test(write) ? write.split(' ')[0] : []));
    expect(verbs.join(' '), type.source).toMatch(/^delete( delete)*$/);
  }
});

it('need exactly these rights', () => {
  const isOfBuiltIns = (resource: string): boolean =>
    ['serviceaccounts', 'events', 'controllerrevisions'].includes(resource);
  // A server-side apply that creates an object needs the right, and is a patch.
  expect(unusedRights(s, USER, isOfBuiltIns)).toEqual(['create controllerrevisions']);
});
