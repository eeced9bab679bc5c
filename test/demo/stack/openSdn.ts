import { readFile } from 'node:fs/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { isWorkload, type ComponentStatus, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { findCondition } from '../../../src/runtime/controller/conditions.ts';
import { getObject, inCluster } from '../../scenario/kubectl.ts';
import { componentOf } from '../../scenario/podOrder.ts';
import type { Question } from './client.ts';

const SAMPLE = new URL('../../../deploy/samples/opensdn.yaml', import.meta.url);
const IMAGE = 'busybox:1.36';
export const NAMESPACE = 'contrail';
export const STACK = 'opensdn';

/** The column READY of so many pods with so many containers. */
const ready = (pods: number, containers: number): string[] =>
  Array.from({ length: pods }, () => `${containers}/${containers}`);

/** The column READY of the pods that the documentation of tf-operator shows, by the name of their workload. */
export const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'cassandra1-cassandra-statefulset': ready(3, 1),
  'config1-config-statefulset': ready(3, 10),
  'control1-control-statefulset': ready(3, 4),
  'kubemanager1-kubemanager-statefulset': ready(3, 2),
  'provmanager1-provisionmanager-statefulset': ready(1, 1),
  'rabbitmq1-rabbitmq-statefulset': ready(3, 1),
  'vroutermasternodes-vrouter-daemonset': ready(3, 1),
  'vrouterworkernodes-vrouter-daemonset': ready(3, 1),
  'webui1-webui-statefulset': ready(3, 3),
  'zookeeper1-zookeeper-statefulset': ready(3, 1),
};

/** The sample. @param tag of its image @throws Error if the sample has another image than it had */
export function withTag(manifest: string, tag: string): string {
  if (!manifest.includes(IMAGE)) throw new Error(`the sample has no image ${IMAGE}`);
  return manifest.replaceAll(IMAGE, `busybox:${tag}`);
}

/** Applies the sample. @param tag of its image */
export async function applyOpenSdn(tag: string): Promise<void> {
  const manifest = withTag(await readFile(SAMPLE, 'utf8'), tag);
  await inCluster('kubectl', ['apply', '--validate=strict', '-f', '-'], manifest);
}

export function stack(): Promise<TrafficStack> {
  return getObject<TrafficStack>('trafficstack', STACK);
}

export async function pods(): Promise<V1Pod[]> {
  return (await getObject<{ items: V1Pod[] }>('pods', '-n', NAMESPACE)).items;
}

/** Whether the stack is ready, with its present spec. */
export function isReady({ metadata, status }: TrafficStack): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return status?.observedGeneration === metadata?.generation && ready?.status === 'True';
}

/** The column READY of each pod, as in EXPECTED. */
export function tableOf(all: readonly V1Pod[]): Record<string, string[]> {
  const table: Record<string, string[]> = {};
  for (const { metadata, spec, status } of all) {
    // A pod of a StatefulSet ends with its number, one of a DaemonSet with five characters.
    const workload = metadata?.name?.replace(/-[a-z0-9]+$/, '') ?? '';
    const ready = status?.containerStatuses?.filter((container) => container.ready).length ?? 0;
    (table[workload] ??= []).push(`${ready}/${spec?.containers.length}`);
  }
  return table;
}

/**
 * Pods that are on another node than they should be, one sentence each: vrouter has one on each node of its kind, and all others are on
 * masters, no two of one workload on the same.
 */
export function misplacedIn(all: readonly V1Pod[], masters: readonly string[]): string[] {
  const taken = new Set<string>();
  return all.flatMap((pod) => {
    const [component, node = ''] = [componentOf(pod), pod.spec?.nodeName];
    const place = `${component} on ${node}`;
    if (taken.has(place)) return [`${component} has two pods on ${node}`];
    taken.add(place);
    const isRight = masters.includes(node) === (component !== 'vrouter-workers');
    return isRight ? [] : [`${pod.metadata?.name} is on ${node}`];
  });
}

/** Containers that were restarted: `pod/container`. @param off a node that is off, which does not tell of its pods */
export function restartsOf(all: readonly V1Pod[], off?: string): string[] {
  return all
    .filter(({ spec }) => off === undefined || spec?.nodeName !== off)
    .flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).flatMap(({ name, restartCount }) =>
        restartCount > 0 ? [`${metadata?.name}/${name}`] : [],
      ),
    );
}

/** Pods that an upgrade did not replace: earlier pods, and pods with a container of another tag. */
export function notReplaced(all: readonly V1Pod[], before: readonly V1Pod[], tag: string): string[] {
  const old = new Set(before.map(({ metadata }) => metadata?.uid));
  return all
    .filter(
      ({ metadata, spec }) =>
        old.has(metadata?.uid) || spec?.containers.some(({ image }) => !image?.endsWith(`/busybox:${tag}`)),
    )
    .map(({ metadata }) => metadata?.name ?? '');
}

/** The number of pods of each component. */
export function desiredPods({ spec }: Pick<TrafficStack, 'spec'>): Record<string, number> {
  const workloads = spec.components.filter(isWorkload);
  return Object.fromEntries(
    workloads.map(({ name, workload }) => [name, EXPECTED[workload.name ?? name]?.length ?? 0]),
  );
}

/**
 * Whether the removal of the stack has come as far as it can while a node is off: the components that no other one needs have pods on
 * that node alone.
 */
export function isHeldBy(node: string, { spec }: TrafficStack, all: readonly V1Pod[]): boolean {
  const needed = new Set(spec.components.flatMap(({ dependsOn = [] }) => dependsOn));
  const last = all.filter((pod) => !needed.has(componentOf(pod)));
  return last.length > 0 && last.every((pod) => pod.spec?.nodeName === node);
}

/** Components that end, or are gone, before one that depends on them is gone, one sentence each. */
export function removalDisorderIn({ spec }: TrafficStack, all: readonly V1Pod[]): string[] {
  const of = (component: string) => all.filter((pod) => componentOf(pod) === component);
  const ends = (component: string): boolean =>
    of(component).every(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  return spec.components
    .filter(({ name }) => of(name).length > 0)
    .flatMap(({ name, dependsOn = [] }) => dependsOn.filter(ends).map((each) => `${each} ended before ${name}`));
}

/** The activity of a component, for one line. */
export function told({ name, state, message, replicas, readyReplicas }: ComponentStatus): string {
  const pods = replicas === undefined ? '' : ` ${readyReplicas ?? 0}/${replicas}`;
  return `${name}: ${state}${pods}${state === 'Ready' ? '' : `: ${message}`}`;
}

/** The questions of a client to each component that has a Service: at the Service, and at its pods, if there are several. */
export function questionsOf(present: Pick<TrafficStack, 'spec'>): Question[] {
  const desired = desiredPods(present);
  return present.spec.components.filter(isWorkload).flatMap(({ name, workload }): Question[] => {
    const { services = [] } = workload;
    const service = services.find(({ headless }) => headless !== true);
    const members = services.find(({ headless }) => headless === true);
    if (service === undefined || members === undefined) return [];
    const url = (host: string): string => urlOf(`${host}.${NAMESPACE}.svc`, service.ports[0]?.port);
    const own = [url(service.name ?? name)];
    if (desired[name] === 1) return [{ at: 'single', name, urls: own }];
    const ordinals = Array.from({ length: desired[name] ?? 0 }, (_, ordinal) => ordinal);
    const each = ordinals.map((ordinal) => url(`${workload.name}-${ordinal}.${members.name}`));
    return [
      { at: 'service', name, urls: own },
      { at: 'pods', name, urls: each },
    ];
  });
}

/** The questions of a client to the vrouters, which have no Service: each pod, except on the node that is going to be off. */
export function vrouterQuestions(all: readonly V1Pod[], off: string): Question[] {
  return all
    .filter((pod) => componentOf(pod).startsWith('vrouter-') && pod.spec?.nodeName !== off)
    .map(({ spec, status }) => {
      const port = spec?.containers[0]?.readinessProbe?.tcpSocket?.port;
      return { at: 'vrouter', name: spec?.nodeName ?? '', urls: [urlOf(status?.podIP, port)] };
    });
}

function urlOf(host: string | undefined, port: number | string | undefined): string {
  return `http://${host}:${port}/etc/passwd`;
}
