import { readFile } from 'node:fs/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi, type TestContext } from 'vitest';
import type { ComponentStatus, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { prometheusRuleCrd } from '../harness/customResource.ts';
import { dnsEndpointCrd } from '../harness/externalDns.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { untilIn, within } from '../harness/slack.ts';
import { AGENTS_NAMESPACE } from '../scenario/connectivity.ts';
import { helmInstall, NAMESPACE as OPERATOR, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, inCluster, kubectl } from '../scenario/kubectl.ts';
import { mapIn, POD_FAULTS, servingComponent, stackOf } from '../scenario/podFaults.ts';
import { componentOf, createdEarly, eventsOf } from '../scenario/podOrder.ts';
import { PodWatch } from '../scenario/podWatch.ts';
import { rawWatch } from '../scenario/rawWatch.ts';
import { StackWatch } from '../scenario/stackWatch.ts';
import { podsOf } from '../scenario/workloads.ts';
import { Healing, type Target } from './healing.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/**
 * Stacks on real pods, all in one installation: the stack `default` with the connectivity check; the stack `shop` of deploy/samples, whose
 * containers exit unless what they depend on answers; faults as real kubelets report them, each in a stack of its own; and components that are
 * deleted and killed, which the stack names and heals.
 */
const SAMPLE = new URL('../../deploy/samples/trafficstack.yaml', import.meta.url);
const SHOP = 'shop';
/** Pods of each component. */
const PODS = { db: 3, api: 2, web: 2, agent: NODES.length };
const API = { kind: 'Deployment', namespace: SHOP, name: 'api' };
const DEFAULT_COMPONENTS = ['node-exporter', 'prometheus', 'connectivity-server', 'connectivity-agents'];

/** The stack `parts` has components of each other type, in a namespace of that name. */
const PARTS = 'parts';
const PARTS_STACK = {
  ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name: PARTS } },
  spec: {
    components: [
      servingComponent(['api'], { kind: 'Deployment', namespace: PARTS, replicas: 2 }),
      servingComponent(['db'], { kind: 'StatefulSet', namespace: PARTS, replicas: 2 }),
      servingComponent(['agent'], { kind: 'DaemonSet', namespace: PARTS }),
      { name: 'boards', type: 'Dashboards', dashboards: { namespace: PARTS } },
      { name: 'rules', type: 'Rules', rules: { namespace: PARTS } },
      {
        ...{ name: 'dns', type: 'Weights' },
        weights: { clusterName: 'cluster-a', bindingDomain: 'example.org', backend: { static: { weight: 75 } } },
      },
    ],
  },
};

/** Namespaces of the stacks. The rights to write there are bound in them. */
const NAMESPACES = [SHOP, PARTS, ...POD_FAULTS.map(({ name }) => name)];

const target = (stack: string, component: string, kind: string, namespace: string, name = component): Target => ({
  ...{ stack, component, kind, namespace, name },
});
const POD_AGENTS = target('default', 'connectivity-agents', 'DaemonSet', AGENTS_NAMESPACE, 'netchecker-agent');
const HOST_AGENTS = { ...POD_AGENTS, name: 'netchecker-agent-hostnet', besides: POD_AGENTS };
type Fault = 'deletesObject' | 'deletesWorkload' | 'deletesPods' | 'killsProcesses';
/** Each fault has workloads of several kinds, and each built-in component has a fault. They overlap. */
const FAULTS: readonly (Target & { readonly fault: Fault })[] = [
  { fault: 'deletesWorkload', ...target('default', 'node-exporter', 'DaemonSet', `${OPERATOR}-node-exporter`) },
  {
    fault: 'deletesWorkload',
    ...target('default', 'connectivity-server', 'Deployment', OPERATOR, 'netchecker-server'),
  },
  { fault: 'deletesWorkload', ...target(PARTS, 'db', 'StatefulSet', PARTS) },
  { fault: 'deletesPods', ...target('default', 'prometheus', 'Deployment', OPERATOR) },
  { fault: 'deletesPods', ...target(PARTS, 'agent', 'DaemonSet', PARTS) },
  { fault: 'killsProcesses', ...HOST_AGENTS },
  { fault: 'killsProcesses', ...target(PARTS, 'api', 'Deployment', PARTS) },
  { fault: 'deletesObject', ...target(PARTS, 'boards', 'ConfigMap', PARTS, 'traffic-operator-dashboard-nodes') },
  { fault: 'deletesObject', ...target(PARTS, 'dns', 'TrafficWeight', '') },
  { fault: 'deletesObject', ...target(PARTS, 'rules', 'PrometheusRule', PARTS, 'traffic-operator') },
];

/** No goals, and the machine may be busy. */
const NAMED = { timeout: 240_000 };
const READY = { timeout: 480_000 };
/** All versions of each stack, from the oldest. */
const stacks = new Map<string, TrafficStack[]>();
const watches = new Map<string, StackWatch>();
const ends: (() => Promise<void>)[] = [];
let pods: PodWatch;
/** The reason why stacks are no longer watched. */
let problem: string | undefined;

beforeAll(async () => {
  await enterLab();
  await applyObjects([
    ...[await dnsEndpointCrd(), prometheusRuleCrd()],
    ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  ]);
}, 900_000);
afterAll(async () => {
  for (const end of ends) await end();
  await leaveLab();
});

const failureReport = (stack: string, { onTestFailed }: TestContext): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'trafficstack', stack, '-o', 'yaml').catch(String));
    console.error(await kubectl('get', 'pods', '-A', '-o', 'wide').catch(String));
    console.error(await kubectl('describe', 'pods', '-n', stack).catch(String));
    console.error(await operatorLogs().catch(String));
  });
const isReady = async (stack: string, components: readonly string[]): Promise<void> => {
  const { metadata, status } = await getObject<TrafficStack>('trafficstack', stack);
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
  expect(status?.components?.map(({ name }) => name).sort()).toEqual([...components].sort());
};
const partsAreReady = () =>
  isReady(
    PARTS,
    PARTS_STACK.spec.components.map(({ name }) => name),
  );

it('the stack default, with the connectivity check, is ready within 60 s of helm install', async (context) => {
  failureReport('default', context);
  const begin = performance.now();
  const namespaces = `{${NAMESPACES.join()}}`;
  await helmInstall({
    'connectivity.enabled': 'true',
    'weights.enabled': 'true',
    'stacks.enabled': 'true',
    'stacks.namespaces': namespaces,
  });
  await vi.waitFor(() => isReady('default', DEFAULT_COMPONENTS), untilIn(60, begin));
  measured(`the stack default was ready ${seconds(performance.now() - begin)} after helm install began`);
});

const shop = () => getObject<TrafficStack>('trafficstack', SHOP);
const state = async (name: string) => (await shop()).status?.components?.find((each) => each.name === name);
const shopPods = async () => (await getObject<{ items: V1Pod[] }>('pods', '-n', SHOP)).items;

it('a stack comes up in order after one kubectl apply, and each container finds what it needs', async (context) => {
  failureReport(SHOP, context);
  pods = await PodWatch.start();
  ends.push(() => pods.stop());
  const begin = performance.now();
  await inCluster('kubectl', ['apply', '--validate=strict', '-f', '-'], await readFile(SAMPLE, 'utf8'));
  await vi.waitFor(() => isReady(SHOP, Object.keys(PODS)), within(120));
  measured(`the stack was ready after ${seconds(performance.now() - begin)}`);
  console.log(await kubectl('get', 'trafficstack'), await kubectl('get', 'pods', '-n', SHOP));
  const all = await shopPods();
  const tally = [...Map.groupBy(all, componentOf)].map(([component, own]) => [component, own.length] as const);
  expect(Object.fromEntries(tally)).toEqual(PODS);
  // A Service leads to a pod only a moment after it is Ready: one attempt may come before. Without an order there would be several.
  for (const { status } of all)
    for (const each of status?.containerStatuses ?? []) expect(each.restartCount).toBeLessThanOrEqual(1);
  expect(createdEarly(await shop(), await pods.eventsUntilNow(), PODS)).toEqual([]);
});

it('a stack of each other type is ready', async (context) => {
  failureReport(PARTS, context);
  await applyObjects([PARTS_STACK]);
  await vi.waitFor(partsAreReady, within(60));
  for (const name of ['default', PARTS]) watches.set(name, await StackWatch.start(name));
  const path = '/apis/traffic.example.com/v1alpha1/trafficstacks?watch=true';
  const see = (stack: TrafficStack): void => {
    const name = stack.metadata?.name ?? '';
    stacks.set(name, [...(stacks.get(name) ?? []), stack]);
  };
  const fail = (reason: string): void => void (problem ??= reason);
  ends.push(await rawWatch<TrafficStack>(path, ({ object }) => see(object), fail));
  for (const watch of watches.values()) ends.push(() => watch.stop());
});

const versionsOf = (stack: string): readonly TrafficStack[] => {
  if (problem !== undefined) throw new Error(problem);
  return stacks.get(stack) ?? [];
};
const versionsOfC = (stack: string): ComponentStatus[] =>
  versionsOf(stack).flatMap(({ status }) => status?.components?.find(({ name }) => name === 'c') ?? []);

/** Whether all components of the present spec are ready. */
function isCorrected(name: string): boolean {
  const { metadata, status } = versionsOf(name).at(-1) ?? {};
  const isCurrent = status?.observedGeneration === metadata?.generation;
  return isCurrent && findCondition(status?.conditions, 'Ready')?.status === 'True' && status?.summary === '3/3';
}

it.concurrent.for(POD_FAULTS)(
  '$name: what waits names the root, and begins when that is ready',
  async (fault, context) => {
    const { name, kind, observed, container, corrected = container } = fault;
    failureReport(name, context);
    const begin = performance.now();
    await applyObjects([...mapIn(name, fault.configMap), stackOf(fault, container)]);
    const isNamed = (): boolean => observed.test(versionsOfC(name).at(-1)?.waitingOn?.observed ?? '');
    const named = await until(`c names ${String(observed)}`, isNamed, { ...NAMED, since: begin });
    const before = versionsOfC(name).filter(({ reason }) => reason !== 'NotDecided');
    const last = before.at(-1);
    expect(last).toMatchObject({ state: 'Waiting', blockedBy: ['b'], waitingOn: { what: `${kind} ${name}/a` } });
    // Never another component, not even before the kubelet has reported the fault. Only the first status comes before a look.
    expect(before.map(({ waitingOn }) => waitingOn?.component)).toEqual(before.map(() => 'a'));
    const begun = eventsOf(name, await pods.eventsUntilNow()).map(({ object }) => componentOf(object));
    expect(new Set(begun)).toEqual(new Set(['a']));

    const stack = stackOf(fault, corrected);
    const since = performance.now();
    await applyObjects([...mapIn(name, fault.correctedMap), stack]);
    const ready = await until(`${name} is ready`, () => isCorrected(name), { ...READY, since });
    const versions = eventsOf(name, await pods.eventsUntilNow());
    expect(new Set(versions.map(({ object }) => componentOf(object)))).toEqual(new Set(['a', 'b', 'c']));
    const desired = { a: kind === 'DaemonSet' ? NODES.length : 1, b: 1, c: 1 };
    expect(createdEarly(stack, versions, desired)).toEqual([]);
    measured(
      `${name}: named after ${seconds(named)}, ready ${seconds(ready)} after it was corrected: ${last?.message}`,
    );
  },
);

it.concurrent.for(FAULTS)(
  '$component of $stack is named within 10 s, and healed: $fault',
  async ({ fault, ...of }, context) => {
    failureReport(of.stack, context);
    await new Healing(watches)[fault](of);
  },
);

it('all is ready in the end', async (context) => {
  failureReport('default', context);
  await vi.waitFor(() => isReady('default', DEFAULT_COMPONENTS), within(60));
  await vi.waitFor(partsAreReady, within(60));
  expect(await podsOf(HOST_AGENTS)).toHaveLength(NODES.length);
  console.log(await kubectl('get', 'trafficstack'));
});

it('a change is held at the gate, then restored when it does not get ready', async (context) => {
  failureReport(SHOP, context);
  /** With the operations of a JSON patch (RFC 6902). The sample has web, api and db in this order. */
  const patch = (...operations: readonly object[]) =>
    kubectl('patch', 'trafficstack', SHOP, '--type=json', '--patch', JSON.stringify(operations));
  const upgrade = (query: string) => patch({ op: 'add', path: '/spec/upgrade', value: { query, rollback: true } });
  const before = await podsOf(API);
  const uids = (all: readonly V1Pod[]) => all.map(({ metadata }) => metadata?.uid).sort();
  await upgrade('count(up == 1) > 1000');
  await vi.waitFor(async () => {
    const stored = ['controllerrevisions', '-n', SHOP, '-l', 'traffic.example.com/component=api'];
    expect((await getObject<{ items: unknown[] }>(...stored)).items).toHaveLength(1);
  }, within(30));
  await patch(
    // Time for a kubelet of a busy machine to start the container and report how it ended: the message at the deadline stays.
    { op: 'add', path: '/spec/components/1/deadline', value: '45s' },
    { op: 'replace', path: '/spec/components/1/workload/podTemplate/spec/containers/0/command', value: ['false'] },
  );
  await vi.waitFor(async () => expect(await state('api')).toMatchObject({ reason: 'WaitingForGate' }), within(30));
  expect(uids(await podsOf(API))).toEqual(uids(before));
  await upgrade('count(up == 1) > 0');
  await vi.waitFor(async () => {
    expect(await state('api')).toMatchObject({
      ...{ state: 'Failed', reason: 'RolledBack', readyReplicas: before.length },
      rolledBackFrom: { message: expect.stringContaining('it ended with exit code 1') as unknown },
    });
    expect(uids(await podsOf(API))).toEqual(uids(before));
  }, within(120));
  console.log(await kubectl('get', 'trafficstack'), JSON.stringify(await state('api'), null, 2));
});

it('a stack leaves nothing after kubectl delete', async (context) => {
  failureReport(SHOP, context);
  const begin = performance.now();
  // Less than the 300 s after which a stack is reconciled without an event: a removal that waits for that has missed one.
  await kubectl('delete', 'trafficstack', SHOP, '--timeout=240s');
  measured(`the stack was gone ${seconds(performance.now() - begin)} after kubectl delete`);
  expect(await shopPods()).toEqual([]);
  const left = await getObject<{ items: unknown[] }>('deploy,sts,ds,svc,rs', '-n', SHOP);
  expect(left.items).toEqual([]);
});
