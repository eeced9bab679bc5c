import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import type { WorkloadKind } from '../../src/api/trafficstack/terms.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { prometheusRuleCrd } from '../harness/customResource.ts';
import { dnsEndpointCrd } from '../harness/externalDns.ts';
import { measured, seconds } from '../harness/measured.ts';
import { AGENTS_NAMESPACE } from '../scenario/connectivity.ts';
import { helmInstall, NAMESPACE, operatorLogs } from '../scenario/install.ts';
import { applyObjects, getObject, kubectl } from '../scenario/kubectl.ts';
import { timesStopped } from '../scenario/operatorPods.ts';
import { StackWatch, type Concerns, type Seen } from '../scenario/stackWatch.ts';
import { deleteObject, deletePods, idOfRef, killPods, podsOf, uidOf, type ObjectRef } from '../scenario/workloads.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';
import { untilIn, within } from '../harness/slack.ts';

/**
 * Every component of the stack `default`, and workloads, dashboards, weights and rules of another stack, are deleted and killed on real
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
/** Not at the same time: the status of this component tells of the worse one of both, see concernOf. */
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
  ['shop', 'rules', 'PrometheusRule', USER_NAMESPACE, 'traffic-operator'],
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
      { name: 'rules', type: 'Rules', rules: { namespace: USER_NAMESPACE } },
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
const refOf = ([, , kind, namespace, name]: Target): ObjectRef => ({ kind, namespace, name });
/**
 * Whether a status does not tell of the other workload of a component with two. On a busy machine the pods of that one may miss their probes
 * without a fault of this test, and nothing is told of this one until they are ready again.
 */
function concernOf([stack, component, , , name]: Target): Concerns {
  const others = [POD_AGENTS, HOST_AGENTS].filter(
    (each) => each[0] === stack && each[1] === component && each[4] !== name,
  );
  // The name of one begins with that of the other.
  return ({ message }) => !others.some((each) => message.split(/[:,;]? /).includes(`${each[3]}/${each[4]}`));
}
/** The pods that were there before. */
const keptOf = (before: readonly V1Pod[], now: readonly V1Pod[]): V1Pod[] =>
  now.filter(({ metadata }) => before.some((each) => each.metadata?.uid === metadata?.uid));

beforeAll(async () => {
  await enterLab();
  await applyObjects([await dnsEndpointCrd(), prometheusRuleCrd()]);
});
afterAll(async () => {
  for (const watch of watches.values()) await watch.stop();
  await leaveLab();
});

it('the stack default, with the connectivity check, is ready within 60 s of helm install', async (context) => {
  failureReport(context);
  const begin = performance.now();
  await helmInstall({ 'connectivity.enabled': 'true', 'weights.enabled': 'true' });
  const limit = untilIn(60, begin);
  await vi.waitFor(() => isReady('default', DEFAULT_COMPONENTS), limit);
  measured(`the stack default was ready ${seconds(performance.now() - begin)} after helm install began`);
});

it('a stack of each other type is ready', async (context) => {
  failureReport(context);
  await applyObjects([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: USER_NAMESPACE } }, SHOP]);
  await vi.waitFor(() => isReady('shop', SHOP_COMPONENTS), within(60));
  for (const name of ['default', 'shop']) watches.set(name, await StackWatch.start(name));
});

async function begunBy(fault: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await fault();
  return begin;
}

/**
 * Begins a fault, which tells when it did, and waits until the stack has named it. It begins when the component is Ready: what is told of an
 * earlier one may be late. What comes and goes while no operator leads is not told, as where the API server does not answer for 10 s: then it
 * begins again.
 */
async function namedAfter(target: Target, fault: () => Promise<number>): Promise<{ begin: number; seen: Seen }> {
  const [stack, component] = target;
  const watch = watches.get(stack)!;
  for (;;) {
    await watch.ready(component);
    const before = await timesStopped();
    const begin = await fault();
    try {
      return { begin, seen: await watch.named(component, begin, concernOf(target)) };
    } catch (error) {
      if ((await timesStopped()) === before) throw error;
    }
  }
}

/** The same with this state and text, and until the component is Ready again. */
async function expectNamed(
  target: Target,
  fault: () => Promise<number>,
  named: { readonly state: string; readonly reason?: string; readonly message: unknown },
): Promise<void> {
  const [stack, component] = target;
  const { begin, seen } = await namedAfter(target, fault);
  expect(seen.status).toMatchObject({ reason: expect.stringMatching(/^[A-Z]\w+$/) as unknown, ...named });
  const { at } = await watches.get(stack)!.healed(component, seen);
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
  await expectNamed(target, () => begunBy(() => deleteObject(ref)), {
    state: 'Progressing',
    reason: 'Applying',
    message,
  });
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
    await expectNamed(target, () => begunBy(async () => deletePods(await podsOf(refOf(target)))), unavailable(target));
    await expectHealed(target, before, (now) => expect(keptOf(before, now)).toEqual([]));
  });
});

describe('a component whose processes are all killed is named, and they run again', () => {
  const containersOf = (pods: readonly V1Pod[]) =>
    pods.flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).map((each) => ({ ...each, uid: metadata?.uid })),
    );

  /**
   * Kills their processes, and once more those that run in their place, if the stack has not told of it. The kubelet starts a container
   * again at once, and may tell of neither its end nor its start; after another end it waits for 10 s.
   *
   * @returns when they were killed last
   */
  async function killPodsOf(target: Target): Promise<number> {
    const before = await podsOf(refOf(target));
    const first = performance.now();
    killPods(before);
    const killed = new Set(containersOf(before).map(({ containerID }) => containerID));
    const running = await vi.waitFor(async () => {
      const now = await podsOf(refOf(target));
      expect(containersOf(now).filter(({ containerID, ready }) => killed.has(containerID) || !ready)).toEqual([]);
      return now;
    }, within(60));
    const [stack, component] = target;
    const watch = watches.get(stack)!;
    await watch.ready(component);
    if (watch.isNamed(component, first, concernOf(target))) return first;
    const again = performance.now();
    killPods(running);
    return again;
  }

  it.concurrent.for([...PODS, HOST_AGENTS])(TITLE, async (target, context) => {
    failureReport(context);
    const before = await podsOf(refOf(target));
    const restarts = new Map(containersOf(before).map(({ uid, restartCount }) => [uid, restartCount]));
    await expectNamed(target, () => killPodsOf(target), unavailable(target));
    await expectHealed(target, before, (now) => {
      for (const { uid, restartCount } of containersOf(now))
        expect(restartCount).toBeGreaterThan(restarts.get(uid) ?? Infinity);
    });
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
