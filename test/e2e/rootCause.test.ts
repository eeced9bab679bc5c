import type { V1ConfigMap, V1Container, V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest';
import type { ComponentSpec, ComponentStatus, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import type { WorkloadKind } from '../../src/api/trafficstack/terms.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { helmInstall, operatorLogs } from '../scenario/install.ts';
import { applyObjects, kubectl } from '../scenario/kubectl.ts';
import { componentOf, createdEarly, eventsOf } from '../scenario/podOrder.ts';
import { PodWatch } from '../scenario/podWatch.ts';
import { rawWatch } from '../scenario/rawWatch.ts';
import { enterLab, leaveLab, NODES } from './storyLab/storyLab.ts';

/**
 * Faults of pods as real kubelets report them, each in a stack and a namespace of its own. In each, c depends on b, and b on a, which has the
 * fault: c names a and what is wrong there, no pod of b or c exists until the fault is corrected, and then all get ready.
 */
interface Fault {
  /** Also the name of the stack and of the namespace. */
  readonly name: string;
  readonly kind: WorkloadKind;
  /** Of a, beside what each container has. */
  readonly container: Partial<V1Container>;
  readonly pod?: Partial<V1PodSpec>;
  readonly configMap?: V1ConfigMap;
  /** What c says of a. */
  readonly observed: RegExp;
  /** The container of a without the fault, if the fault is in the spec. */
  readonly corrected?: Partial<V1Container>;
  /** The ConfigMap without the fault. */
  readonly correctedMap?: V1ConfigMap;
}

const configMap = (name: string, data: Record<string, string>): V1ConfigMap => ({ metadata: { name }, data });
/** It needs 64 MiB, in one piece, before it serves. */
const HUNGRY = ['sh', '-c', 'dd if=/dev/zero of=/dev/null bs=64M count=1 && exec httpd -f -p 8080 -h /'];
const probe = (path: string) => ({ readinessProbe: { httpGet: { path, port: 8080 }, periodSeconds: 1 } });
const memory = (limit: string) => ({ command: HUNGRY, resources: { limits: { memory: limit } } });

const FAULTS: readonly Fault[] = [
  {
    ...{ name: 'crash', kind: 'StatefulSet', container: { command: ['sh', '-c', 'exit 7'] }, corrected: {} },
    observed: /pod crash\/a-0, container a: CrashLoopBackOff: .*; it ended with exit code 7/,
  },
  {
    ...{ name: 'probe', kind: 'Deployment', container: probe('/absent'), corrected: probe('/etc/passwd') },
    observed: /pod probe\/a-\S+, container a: running, and not ready; Unhealthy: Readiness probe failed: .* 404/,
  },
  {
    ...{ name: 'key', kind: 'DaemonSet', configMap: configMap('settings', { other: 'x' }) },
    container: { env: [{ name: 'PORT', valueFrom: { configMapKeyRef: { name: 'settings', key: 'port' } } }] },
    observed:
      /pod key\/a-\S+, container a: CreateContainerConfigError: couldn't find key port in ConfigMap key\/settings/,
    correctedMap: configMap('settings', { port: '8080' }),
  },
  {
    ...{ name: 'mount', kind: 'Deployment', container: { volumeMounts: [{ name: 'etc', mountPath: '/etc/a' }] } },
    pod: { volumes: [{ name: 'etc', configMap: { name: 'files' } }] },
    observed: /pod mount\/a-\S+: FailedMount: .* volume "etc" .* configmap "files" not found/,
    correctedMap: configMap('files', { 'a.conf': '' }),
  },
  {
    ...{ name: 'memory', kind: 'StatefulSet', container: memory('32Mi'), corrected: memory('128Mi') },
    observed: /pod memory\/a-0, container a: (OOMKilled|CrashLoopBackOff: .* \(OOMKilled\))/,
  },
];

/** No goals, and the machine may be busy. */
const NAMED = { timeout: 240_000 };
const READY = { timeout: 480_000 };
const stacks = new Map<string, TrafficStack[]>();
const ends: (() => Promise<void>)[] = [];
let pods: PodWatch;
/** Why stacks are not watched any more. */
let problem: string | undefined;

beforeAll(async () => {
  await enterLab();
  await helmInstall();
  await applyObjects(FAULTS.map(({ name }) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })));
  pods = await PodWatch.start();
  const path = '/apis/traffic.example.com/v1alpha1/trafficstacks?watch=true';
  const see = (stack: TrafficStack): void => {
    const name = stack.metadata?.name ?? '';
    stacks.set(name, [...(stacks.get(name) ?? []), stack]);
  };
  const fail = (reason: string): void => void (problem ??= reason);
  ends.push(() => pods.stop(), await rawWatch<TrafficStack>(path, ({ object }) => see(object), fail));
});
afterAll(async () => {
  for (const end of ends) await end();
  await leaveLab();
});

/** A component of one container with the name of the component. */
function component(
  [name, ...dependsOn]: [string, ...string[]],
  namespace: string,
  kind: WorkloadKind,
  over: Partial<V1Container> = {},
  pod: Partial<V1PodSpec> = {},
): ComponentSpec {
  const container: V1Container = {
    ...{ name, image: 'docker.io/library/busybox:1.36', command: ['httpd', '-f', '-p', '8080', '-h', '/'] },
    ...{ readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 }, ...over },
  };
  const podTemplate = { spec: { terminationGracePeriodSeconds: 1, containers: [container], ...pod } };
  return { name, type: 'Workload', dependsOn, workload: { kind, namespace, podTemplate } };
}

/** @param container of a */
function stackOf({ name, kind, pod }: Fault, container: Partial<V1Container>): TrafficStack {
  return {
    ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name } },
    spec: {
      components: [
        component(['c', 'b'], name, 'Deployment'),
        component(['b', 'a'], name, 'StatefulSet'),
        component(['a'], name, kind, container, pod),
      ],
    },
  };
}

const mapIn = (namespace: string, map?: V1ConfigMap) =>
  map === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', ...map, metadata: { ...map.metadata, namespace } }];
/** All versions of a stack, from the oldest. */
const versionsOf = (stack: string): readonly TrafficStack[] => {
  if (problem !== undefined) throw new Error(problem);
  return stacks.get(stack) ?? [];
};
const versionsOfC = (stack: string): ComponentStatus[] =>
  versionsOf(stack).flatMap(({ status }) => status?.components?.find(({ name }) => name === 'c') ?? []);
const failureReport = (name: string, { onTestFailed }: TestContext): void =>
  onTestFailed(async () => {
    console.error(await kubectl('get', 'trafficstack', name, '-o', 'yaml').catch(String));
    console.error(await kubectl('describe', 'pods', '-n', name).catch(String));
    console.error(await operatorLogs().catch(String));
  });

it.concurrent.for(FAULTS)('$name: what waits names the root, and begins when that is ready', async (fault, context) => {
  const { name, kind, observed, container, corrected = container } = fault;
  failureReport(name, context);
  const begin = performance.now();
  await applyObjects([...mapIn(name, fault.configMap), stackOf(fault, container)]);
  const isNamed = (): boolean => observed.test(versionsOfC(name).at(-1)?.waitingOn?.observed ?? '');
  const named = await until(`c names ${String(observed)}`, isNamed, { ...NAMED, since: begin });
  const before = versionsOfC(name).filter(({ reason }) => reason !== 'NotDecided');
  const last = before.at(-1);
  expect(last).toMatchObject({ state: 'Waiting', blockedBy: ['b'], waitingOn: { what: `${kind} ${name}/a` } });
  // Never another one, not even before the kubelet has reported the fault. Only the first status comes before a look.
  expect(before.map(({ waitingOn }) => waitingOn?.component)).toEqual(before.map(() => 'a'));
  const begun = eventsOf(name, await pods.eventsUntilNow()).map(({ object }) => componentOf(object));
  expect(new Set(begun)).toEqual(new Set(['a']));

  const stack = stackOf(fault, corrected);
  const since = performance.now();
  await applyObjects([...mapIn(name, fault.correctedMap), stack]);
  const ready = await until(`${name} is ready`, () => isReady(name), { ...READY, since });
  const versions = eventsOf(name, await pods.eventsUntilNow());
  expect(new Set(versions.map(({ object }) => componentOf(object)))).toEqual(new Set(['a', 'b', 'c']));
  const desired = { a: kind === 'DaemonSet' ? NODES.length : 1, b: 1, c: 1 };
  expect(createdEarly(stack, versions, desired)).toEqual([]);
  measured(`${name}: named after ${seconds(named)}, ready ${seconds(ready)} after it was corrected: ${last?.message}`);
});

/** Whether all components of the present spec are ready. */
function isReady(name: string): boolean {
  const { metadata, status } = versionsOf(name).at(-1) ?? {};
  const isCurrent = status?.observedGeneration === metadata?.generation;
  return isCurrent && findCondition(status?.conditions, 'Ready')?.status === 'True' && status?.summary === '3/3';
}
