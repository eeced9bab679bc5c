import { expect, vi } from 'vitest';
import type { V1PodTemplateSpec, V1PolicyRule } from '@kubernetes/client-node';
import {
  TRAFFIC_STACKS,
  type ComponentSpec,
  type ComponentStatus,
  type TrafficStack,
  type WorkloadComponent,
} from '../../../src/api/trafficstack/trafficStack.ts';
import type { Rights, Rule } from '../../../src/controllers/contract/rights.ts';
import { CONTROLLERS } from '../../../src/controllers/registry.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { findCondition, type Condition } from '../../../src/runtime/controller/conditions.ts';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, NODES, STATEFULSETS } from '../../../src/runtime/client/resources.ts';
import { arrived, AUDIT_OF_USERS, writesOf } from '../../harness/audit.ts';
import type { ControlPlaneOptions } from '../../harness/controlPlane.ts';
import { installCrd, trafficStackCrd } from '../../harness/customResource.ts';
import { startFixture, type Fixture } from '../../harness/fixture.ts';
import type { RunningProcess } from '../../harness/process.ts';
import { startControllers } from '../injection/world.ts';
import { allowIn, userWith } from '../rights.ts';
import { Kubelet, NODE } from './kubelet.ts';

/** For controllers of Kubernetes and the operator on a busy machine. */
export const WAIT = { timeout: 120_000, interval: 200 };
export const PERSON = { fieldManager: 'person' };
/** The user of the operator, if a test does not need its own. Scenes with the same user and plane may share a control plane. */
export const USER = 'stack-operator';
const NAMESPACE = 'traffic-operator-system';

/** A cluster with the real controllers of workloads, and an operator with exactly the rights of stacks. */
export interface StackScene {
  readonly f: Fixture;
  readonly kubelet: Kubelet;
  /** The kubeconfig of the operator. */
  readonly kubeconfig: string;
  startOperator(): Promise<void>;
  /** Ends the controllers of Kubernetes, and the scheduler. */
  stopControllers(): Promise<void>;
  /** Starts them again. */
  startControllers(): Promise<void>;
  /** Ends the operator, and starts it again. */
  restartOperator(): Promise<void>;
  stack(name?: string): Promise<TrafficStack>;
  component(name: string, stack?: string): Promise<ComponentStatus | undefined>;
  /** Until a component has this in its status. */
  becomes(name: string, wanted: object, stack?: string): Promise<void>;
  condition(type: string, stack?: string): Promise<Condition | undefined>;
  create(name: string, components: readonly ComponentSpec[]): Promise<unknown>;
  /** Until the stack is ready, with its present spec. */
  ready(name?: string): Promise<void>;
  /** The names of all workloads, sorted. */
  workloads(): Promise<(string | undefined)[]>;
  /** The writes of the operator to workloads, in their order: `patch deployments/web`. */
  writes(): string[];
  /** The names of workloads that it deleted, in their order. */
  deletions(): string[];
  /** Replaces the components. */
  change(name: string, components: readonly ComponentSpec[]): Promise<unknown>;
  stop(): Promise<void>;
}

const WORKLOAD_CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'garbage-collector-controller',
  'endpointslice-controller',
  'persistentvolumeclaim-protection-controller',
];

/** The right of an operator with leader election. */
export const LEASE_RIGHTS: V1PolicyRule = {
  ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
  verbs: ['get', 'list', 'watch', 'create', 'update'],
};

/** The options of a scene. */
export interface SceneOptions {
  readonly plane?: ControlPlaneOptions;
  /** Controllers of Kubernetes, in addition to the controllers of workloads. */
  readonly controllers?: readonly string[];
  /** Arguments of kube-controller-manager. */
  readonly controllerArgs?: readonly string[];
  /** The rights of the operator; default: exactly the rights of the chart. */
  readonly rights?: (rules: readonly Rule[]) => readonly V1PolicyRule[];
  /** Arguments of the operator. */
  readonly args?: readonly string[];
  /** Whether the operator has the rights for stacks of users. Default: true. Without, those on its own namespace are only there. */
  readonly hasUserStacks?: boolean;
}

/** Starts everything but the operator. @param user of the operator */
export async function startScene(user: string, options: SceneOptions = {}): Promise<StackScene> {
  const {
    plane = {},
    controllers = [],
    controllerArgs,
    rights = (all) => all,
    args = [],
    hasUserStacks = true,
  } = options;
  const f = await startFixture({ nodes: [NODE], auditPolicy: AUDIT_OF_USERS, plane });
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
  const names = [...WORKLOAD_CONTROLLERS, ...controllers];
  const processes: RunningProcess[] = await startControllers(f, names, controllerArgs);
  const stopControllers = async (): Promise<void> => {
    for (const each of processes.splice(0)) await each.stop();
  };
  const { cluster, own } = commonRights();
  const kubeconfig = await userWith(
    f,
    user,
    rights([...cluster, ...(hasUserStacks ? [...own, ...stackRights()] : [])]),
  );
  if (!hasUserStacks) await allowIn(f.client, user, NAMESPACE, own);
  // A new node is tainted until its kubelet reports.
  await f.client.mergePatch(NODES, { name: NODE }, { spec: { taints: null } }, PERSON);
  const kubelet = new Kubelet(f.controlPlane);
  const stack = (name = 'main'): Promise<TrafficStack> => f.client.get(TRAFFIC_STACKS, { name });
  const statusOf = async (name: string, of?: string) =>
    (await stack(of)).status?.components?.find((each) => each.name === name);
  const condition = async (type: string, of?: string) => findCondition((await stack(of)).status?.conditions, type);
  const writes = (): string[] =>
    writesOf(f.controlPlane, user).flatMap(({ verb, resource, name }) =>
      ['deployments', 'statefulsets', 'daemonsets'].includes(resource) ? [`${verb} ${resource}/${name}`] : [],
    );
  const startOperator = async (): Promise<void> => {
    await f.startOperator(['--stacks', ...args], { kubeconfig });
  };
  return {
    ...{ f, kubelet, kubeconfig, stack, component: statusOf, condition, writes },
    ready: (name) =>
      vi.waitFor(async () => {
        const { metadata, status } = await stack(name);
        expect(status?.observedGeneration).toBe(metadata?.generation);
        expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
      }, WAIT),
    async workloads() {
      const kinds: readonly Resource[] = [DEPLOYMENTS, STATEFULSETS, DAEMONSETS];
      const lists = await Promise.all(kinds.map((kind) => f.client.list(kind)));
      return lists
        .flat()
        .map(({ metadata }) => metadata?.name)
        .sort();
    },
    deletions: () =>
      writes().flatMap((write) => (write.startsWith('delete') ? [write.slice(write.indexOf('/') + 1)] : [])),
    ...{ startOperator, stopControllers },
    startControllers: async () => void processes.push(...(await startControllers(f, names, controllerArgs))),
    async restartOperator() {
      await f.stopOperator();
      await startOperator();
    },
    becomes: (name, wanted, of) => vi.waitFor(async () => expect(await statusOf(name, of)).toMatchObject(wanted), WAIT),
    create: (name, components) =>
      f.client.create(TRAFFIC_STACKS, { metadata: { name }, spec: { components: [...components] } }),
    change: (name, components) => f.client.mergePatch(TRAFFIC_STACKS, { name }, { spec: { components } }, PERSON),
    async stop() {
      await kubelet.stop();
      await stopControllers();
      await f.stop();
    },
  };
}

/**
 * A second stack does not get a component of the first: it is refused by the name of its first object.
 * @param of the component of the first stack
 */
export async function expectRefused(
  s: StackScene,
  component: ComponentSpec,
  { object, of = component.name }: { readonly object: string; readonly of?: string },
): Promise<void> {
  await s.create('second', [component]);
  await vi.waitFor(async () => {
    expect(await s.component(component.name, 'second')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: `${object} exists and is not of this stack, but of the TrafficStack main, component ${of}: it is left as it is`,
    });
  }, WAIT);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'second' });
  await vi.waitFor(() => expect(s.stack('second')).rejects.toSatisfy(isNotFound), WAIT);
}

/** The rights that the chart gives with stacks.enabled, or with these values. */
export function stackRights(...values: readonly string[]): readonly Rule[] {
  const isOn = new Set(values.length === 0 ? ['stacks'] : values);
  const optional = CONTROLLERS.flatMap((each) => each.rights(NAMESPACE).onlyWith ?? []);
  const given = optional.filter((each) => each.process === undefined && each.values.every((value) => isOn.has(value)));
  return given.flatMap(({ cluster, own, namespaces = [] }) => [...cluster, ...own, ...namespaces]);
}

/**
 * The rights on these resources that a user did not use, as `verb resource`. Refused requests fail the test. A watch counts from its begin: the
 * API server sees its end some time after the operator has ended.
 */
export function unusedRights(
  { f }: StackScene,
  user: string,
  of: (resource: string) => boolean,
  rules = stackRights(),
): string[] {
  const requests = arrived(f.controlPlane).filter((request) => request.user === user);
  expect(requests.filter(({ isForbidden }) => isForbidden)).toEqual([]);
  const used = new Set(requests.map(({ verb, resource }) => `${verb} ${resource}`));
  const unused = rules.flatMap(({ resources = [], verbs }) =>
    resources
      .filter(of)
      .flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`).filter((right) => !used.has(right))),
  );
  // A watch that begins with a list also asks for the right to list: the audit log has no request of its own.
  return unused.filter((right) => !used.has(right.replace(/^list /, 'watch ')));
}

/** The rights that all controllers have, the Deployments of TrafficWatches, the default, and the connectivity check. */
function commonRights(): Rights {
  const all = CONTROLLERS.map((each) => each.rights(NAMESPACE));
  const controllers = all.map(({ controller }) => controller);
  const optional = all
    .flatMap(({ onlyWith = [] }) => onlyWith)
    .filter(({ values }) => ['trafficWatch.deployments', 'connectivity'].includes(values.join()));
  const rights = [...controllers, ...optional];
  return { cluster: rights.flatMap(({ cluster }) => cluster), own: rights.flatMap(({ own }) => own) };
}

/** A component whose pods have one container. */
export function component(
  name: string,
  {
    kind = 'Deployment',
    image = `${name}:1`,
    dependsOn = [],
    ...over
  }: Partial<Omit<ComponentSpec, 'workload'>> & {
    readonly kind?: WorkloadComponent['workload']['kind'];
    readonly image?: string;
    readonly workload?: Partial<WorkloadComponent['workload']>;
  } = {},
): WorkloadComponent {
  const podTemplate: V1PodTemplateSpec = {
    // Without a kubelet, a pod that is deleted would wait for one.
    spec: { nodeName: NODE, terminationGracePeriodSeconds: 0, containers: [{ name, image }] },
  };
  return {
    name,
    type: 'Workload',
    dependsOn,
    ...over,
    workload: { kind, namespace: 'default', podTemplate, ...over.workload },
  };
}
