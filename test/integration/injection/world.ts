import type { V1Affinity, V1Pod, V1PodSpec, V1StatefulSet } from '@kubernetes/client-node';
import { expect, vi } from 'vitest';
import type { TrafficWatch } from '../../../src/api/trafficwatch/schema.ts';
import { resourcePath, type Resource } from '../../../src/runtime/client/resource.ts';
import { NODES, PODS } from '../../../src/runtime/client/resources.ts';
import { findCondition, type Condition } from '../../../src/runtime/controller/conditions.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { kubectl as runKubectl } from '../../harness/kubectl.ts';
import { freePorts, start, type RunningProcess } from '../../harness/process.ts';
import type { Connected } from '../../harness/runtimeScene.ts';
import { binary } from '../../lab/binaries.ts';
import { unfitKey } from '../../harness/unfitKey.ts';

export const WAIT = { timeout: 90_000, interval: 200 };
export const STATEFULSETS: Resource<V1StatefulSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  namespaced: true,
};

export const notUnfit = (name: string) => ({ key: unfitKey(name), operator: 'NotIn', values: ['true'] });
export const NEW_NODE = { key: 'cluster-autoscaler.kubernetes.io/template-node', operator: 'In', values: ['true'] };
export const disk = { key: 'disk', operator: 'In', values: ['ssd'] };

export const requiredTermsOf = ({ spec }: V1Pod) =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
export const preferredOf = ({ spec }: V1Pod) =>
  spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution;
export const required = (nodeSelectorTerms: object[]): V1Affinity => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
});

/** A pod with these labels that no node refuses: test nodes have taints, since no kubelet reports for them. */
export function aPod(name: string, labels: Record<string, string>, spec: Partial<V1PodSpec> = {}): V1Pod {
  const containers = [{ name: 'main', image: 'registry.example.com/app:1' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: { containers, tolerations: [{ operator: 'Exists' }], ...spec },
  };
}

export function aStatefulSet(name: string, replicas: number, spec: Partial<V1PodSpec> = {}): V1StatefulSet {
  const { spec: podSpec } = aPod(name, {}, spec);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      serviceName: name,
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: podSpec! },
    },
  };
}

/** The pod as the API server would store it. */
export async function admitted({ transport }: Connected, pod: V1Pod): Promise<V1Pod> {
  const path = resourcePath(PODS, { namespace: 'default' });
  return transport.request<V1Pod>({ method: 'POST', path, query: { dryRun: 'All' }, body: pod });
}

export async function condition(f: Fixture, name: string, type: string): Promise<Condition | undefined> {
  return findCondition((await f.watch(name)).status?.conditions ?? [], type);
}

/** Waits until the TrafficWatch has what the policy needs, and the API server uses it for pods with these labels. */
export async function untilInjected(f: Fixture, c: Connected, name: string, app: string): Promise<TrafficWatch> {
  await vi.waitFor(async () => {
    const { status } = await f.watch(name);
    expect([status?.labelKey, status?.podSelector]).toEqual([unfitKey(name), { matchLabels: { app } }]);
    expect(JSON.stringify((await admitted(c, aPod('probe', { app }))).spec?.affinity)).toContain(unfitKey(name));
  }, WAIT);
  return f.watch(name);
}

/** Runs kubectl with this object as its file. Throws with its output unless it ends with status 0. */
export function kubectl({ controlPlane }: Fixture, args: readonly string[], object: object): Promise<string> {
  return runKubectl(controlPlane, [...args, '-f', '-'], object);
}

/** Says that the nodes can take pods, as kubelets do. */
export async function giveRoom(f: Fixture, nodes: readonly string[], pods = '110'): Promise<void> {
  const room = { cpu: '8', memory: '16Gi', pods };
  const status = { capacity: room, allocatable: room };
  for (const name of nodes) {
    await f.client.mergePatch(NODES, { name }, { status }, { fieldManager: 'person', subresource: 'status' });
  }
}

/** Starts controllers of Kubernetes, by default the controller of StatefulSets, and the scheduler. @param args of the controllers */
export async function startControllers(
  { controlPlane }: Fixture,
  controllers: readonly string[] = ['statefulset-controller'],
  args: readonly string[] = [],
): Promise<RunningProcess[]> {
  const { directory, kubeconfig } = controlPlane;
  const [managerPort, schedulerPort] = await freePorts(2);
  const rate = ['--kube-api-qps=200', '--kube-api-burst=400'];
  const common = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', ...rate];
  const [manager, scheduler] = await Promise.all([binary('kube-controller-manager'), binary('kube-scheduler')]);
  return [
    start(
      manager,
      [
        ...common,
        `--controllers=${controllers.join(',')}`,
        `--secure-port=${managerPort}`,
        `--cert-dir=${directory}/controllers`,
        ...args,
      ],
      `${directory}/controllers.log`,
    ),
    start(
      scheduler,
      [...common, `--secure-port=${schedulerPort}`, `--cert-dir=${directory}/scheduler`],
      `${directory}/scheduler.log`,
    ),
  ];
}
