import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import type { WorkloadKind } from '../../src/api/trafficstack/terms.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { dnsEndpointCrd } from '../harness/externalDns.ts';
import { measured, seconds } from '../harness/measured.ts';
import { AGENTS_NAMESPACE } from '../scenario/connectivity.ts';
import { helmInstall, NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { StackWatch } from '../scenario/stackWatch.ts';
import { deleteObject, deletePods, idOfRef, killPods, podsOf, uidOf, type ObjectRef } from '../scenario/workloads.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/**
 * Every component of the stack `default`, and workloads, dashboards and weights of another stack, are deleted and killed on real
 * pods: the stack names each within 10 s, and it is healed. A watch that began before sees each state, however short.
 */
const USER_NAMESPACE = 'shop';
const DEFAULT_COMPONENTS = ['node-exporter', 'prometheus', 'connectivity-server', 'connectivity-agents'];

/** A component, and the object of it that is deleted or whose pods are. */
type Target = readonly [stack: string, component: string, kind: string, namespace: string, name: string];
const PODS: readonly Target[] = [
  ['default', 'node-exporter', 'DaemonSet', `${NAMESPACE}-node-exporter`, 'node-exporter'],
  ['default', 'prometheus', 'Deployment', NAMESPACE, 'prometheus'],
  ['default', 'connectivity-server', 'Deployment', NAMESPACE, 'netchecker-server'],
  ['shop', 'api', 'Deployment', USER_NAMESPACE, 'api'],
  ['shop', 'db', 'StatefulSet', USER_NAMESPACE, 'db'],
  ['shop', 'agent', 'DaemonSet', USER_NAMESPACE, 'agent'],
];
/** Not at the same time: the status of this component tells of the worse one of both. */
const [POD_AGENTS, HOST_AGENTS] = ['netchecker-agent', 'netchecker-agent-hostnet'].map((name): Target => [
  'default',
  'connectivity-agents',
  'DaemonSet',
  AGENTS_NAMESPACE,
  name,
]) as [Target, Target];
const WITHOUT_PODS: readonly Target[] = [
  ['shop', 'boards', 'ConfigMap', USER_NAMESPACE, 'traffic-operator-dashboard-nodes'],
  ['shop', 'dns', 'TrafficWeight', '', 'dns'],
];
const TITLE = '%s: %s (%s)';
const watches = new Map<string, StackWatch>();

const workload = (name: string, kind: WorkloadKind): ComponentSpec => {
  const container = {
    ...{ name, image: 'docker.io/library/busybox:1.36', command: ['httpd', '-f', '-p', '8080', '-h', '/'] },
    readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
  };
  const podTemplate = { spec: { terminationGracePeriodSeconds: 1, containers: [container] } };
  const replicas = kind === 'DaemonSet' ? {} : { replicas: 2 };
  return { name, type: 'Workload', workload: { kind, namespace: USER_NAMESPACE, ...replicas, podTemplate } };
};
const SHOP = {
  apiVersion: 'traffic.example.com/v1alpha1',
  kind: 'TrafficStack',
  metadata: { name: 'shop' },
  spec: {
    components: [
      workload('api', 'Deployment'),
      workload('db', 'StatefulSet'),
      workload('agent', 'DaemonSet'),
      { name: 'boards', type: 'Dashboards', dashboards: { namespace: USER_NAMESPACE } },
      {
        ...{ name: 'dns', type: 'Weights' },
        weights: { clusterName: 'cluster-a', bindingDomain: 'example.org', backend: { static: { weight: 75 } } },
      },
    ],
  },
};

const SHOP_COMPONENTS = SHOP.spec.components.map(({ name }) => name);

const failureReport = ({ onTestFailed }: TestContext): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'pods', '-A', '-o', 'wide').catch(String));
    console.error(await operatorLogs().catch(String));
  });
const isReady = async (stack: string, components: readonly string[]): Promise<void> => {
  const { metadata, status } = await getObject<TrafficStack>('trafficstack', stack);
  expect(status?.observedGeneration).toBe(metadata?.generation);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
  expect(status?.components?.map(({ name }) => name).sort()).toEqual([...components].sort());
};
const within = (limit: number) => ({ timeout: limit * 1000, interval: 300 });
const refOf = ([, , kind, namespace, name]: Target): ObjectRef => ({ kind, namespace, name });
/** The pods that were there before. */
const keptOf = (before: readonly V1Pod[], now: readonly V1Pod[]): V1Pod[] =>
  now.filter(({ metadata }) => before.some((each) => each.metadata?.uid === metadata?.uid));

beforeAll(async () => {
  await enterLab();
  await applyObjects([await dnsEndpointCrd()]);
});
afterAll(async () => {
  for (const watch of watches.values()) await watch.stop();
  await leaveLab();
});

it('the stack default, with the connectivity check, is ready within 60 s of helm install', async (context) => {
  failureReport(context);
  const begin = performance.now();
  const enabled = ['stacks', 'connectivity', 'weights'].map((name) => [`${name}.enabled`, 'true']);
  await helmInstall(Object.fromEntries(enabled) as Record<string, string>);
  const limit = { timeout: 60_000 - (performance.now() - begin), interval: 300 };
  await vi.waitFor(() => isReady('default', DEFAULT_COMPONENTS), limit);
  measured(`the stack default was ready ${seconds(performance.now() - begin)} after helm install began`);
});

it('a stack of each other type is ready', async (context) => {
  failureReport(context);
  await applyObjects([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: USER_NAMESPACE } }, SHOP]);
  await vi.waitFor(() => isReady('shop', SHOP_COMPONENTS), within(60));
  for (const name of ['default', 'shop']) watches.set(name, await StackWatch.start(name));
});

/** Begins a fault, and waits until the stack has named it with this state and text, and the component is Ready again. */
async function expectNamed(
  [stack, component]: Target,
  fault: () => Promise<void> | void,
  named: { readonly state: string; readonly reason?: string; readonly message: unknown },
): Promise<void> {
  const watch = watches.get(stack)!;
  const begin = performance.now();
  await fault();
  const seen = await watch.named(component, begin);
  expect(seen.status).toMatchObject({ reason: expect.stringMatching(/^[A-Z]\w+$/) as unknown, ...named });
  const { at } = await watch.healed(component, seen);
  const { state, reason, message } = seen.status;
  const times = `named after ${seconds(seen.at - begin)}, ready after ${seconds(at - begin)}`;
  measured(`${component} of ${stack}: ${times}: ${state} (${reason}): ${message}`);
}

/** Waits until a workload has as many pods as before, all ready, and `isNew` is true of them. */
const expectHealed = (target: Target, before: readonly V1Pod[], isNew: (now: readonly V1Pod[]) => void) =>
  vi.waitFor(async () => {
    const now = await podsOf(refOf(target));
    expect(now).toHaveLength(before.length);
    for (const { metadata, status } of now) {
      expect(metadata?.deletionTimestamp).toBeUndefined();
      expect(status?.containerStatuses?.map(({ ready }) => ready)).toEqual([true]);
    }
    isNew(now);
  }, within(60));

/** Deletes the object of a component, and waits until the stack has named and made it. */
async function expectNamedAndMade(target: Target): Promise<void> {
  const ref = refOf(target);
  const uid = await uidOf(ref);
  const message = `to create: ${idOfRef(ref)}`;
  await expectNamed(target, () => deleteObject(ref), { state: 'Progressing', reason: 'Applying', message });
  expect(await uidOf(ref)).not.toBe(uid);
}

/** What is told while fewer pods than desired are available, or the old ones still are. */
const unavailable = (target: Target) => {
  const figures = '((\\d) of (?!\\2)\\d pods are available|\\d of \\d pods are available, \\d of \\d updated)';
  const message = expect.stringMatching(`^${idOfRef(refOf(target))}: ${figures}`) as unknown;
  return { state: 'Degraded', message };
};

describe('a component whose workload is deleted is named, and made anew with other pods', () => {
  it.concurrent.for([...PODS, HOST_AGENTS])(TITLE, async (target, context) => {
    failureReport(context);
    const before = await podsOf(refOf(target));
    expect(before.length).toBeGreaterThan(0);
    await expectNamedAndMade(target);
    await expectHealed(target, before, (now) => expect(keptOf(before, now)).toEqual([]));
  });
});

describe('a component whose pods are all deleted is named, and has others', () => {
  it.concurrent.for([...PODS, POD_AGENTS])(TITLE, async (target, context) => {
    failureReport(context);
    const before = await podsOf(refOf(target));
    await expectNamed(target, () => deletePods(before), unavailable(target));
    await expectHealed(target, before, (now) => expect(keptOf(before, now)).toEqual([]));
  });
});

describe('a component whose processes are all killed is named, and they run again', () => {
  const restartsOf = (pods: readonly V1Pod[]) =>
    pods.map(({ metadata, status }) => `${metadata?.uid} ${status?.containerStatuses?.[0]?.restartCount}`).sort();
  it.concurrent.for([...PODS, HOST_AGENTS])(TITLE, async (target, context) => {
    failureReport(context);
    const before = await podsOf(refOf(target));
    const once = restartsOf(before).map((each) => each.replace(/ 0$/, ' 1'));
    expect(once).not.toEqual(restartsOf(before));
    await expectNamed(target, () => killPods(before), unavailable(target));
    await expectHealed(target, before, (now) => expect(restartsOf(now)).toEqual(once));
  });
});

describe('a component without pods whose object is deleted is named, and has it again', () => {
  it.concurrent.for(WITHOUT_PODS)(TITLE, expectNamedAndMade);
});

it('all is ready in the end', async (context) => {
  failureReport(context);
  await vi.waitFor(() => isReady('default', DEFAULT_COMPONENTS), within(60));
  await vi.waitFor(() => isReady('shop', SHOP_COMPONENTS), within(60));
  expect(await podsOf(refOf(HOST_AGENTS))).toHaveLength(NODES.length);
  console.log(await kubectl('get', 'trafficstack'));
});
