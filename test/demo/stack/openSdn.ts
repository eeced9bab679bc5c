import { readFile } from 'node:fs/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { isWorkload, type ComponentStatus, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { findCondition } from '../../../src/runtime/controller/conditions.ts';
import { getObject, inCluster } from '../../scenario/kubectl.ts';

const SAMPLE = new URL('../../../deploy/samples/opensdn.yaml', import.meta.url);
const IMAGE = 'busybox:1.36';
export const NAMESPACE = 'contrail';
export const STACK = 'opensdn';
const COMPONENT = 'traffic.example.com/component';

/** The pods that the documentation of tf-operator shows: by the name of their workload, how many, and containers of each. */
export const EXPECTED: Readonly<Record<string, readonly [pods: number, containers: number]>> = {
  'cassandra1-cassandra-statefulset': [3, 1],
  'config1-config-statefulset': [3, 10],
  'control1-control-statefulset': [3, 4],
  'kubemanager1-kubemanager-statefulset': [3, 2],
  'provmanager1-provisionmanager-statefulset': [1, 1],
  'rabbitmq1-rabbitmq-statefulset': [3, 1],
  'vroutermasternodes-vrouter-daemonset': [3, 1],
  'vrouterworkernodes-vrouter-daemonset': [3, 1],
  'webui1-webui-statefulset': [3, 3],
  'zookeeper1-zookeeper-statefulset': [3, 1],
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

/** What the pods are, as in EXPECTED. */
export function tableOf(all: readonly V1Pod[]): Record<string, [pods: number, containers: number]> {
  const table: Record<string, [number, number]> = {};
  for (const { metadata, status } of all) {
    // A pod of a StatefulSet ends with its number, one of a DaemonSet with five characters.
    const workload = metadata?.name?.replace(/-[a-z0-9]+$/, '') ?? '';
    const ready = status?.containerStatuses?.filter((container) => container.ready).length ?? 0;
    table[workload] = [(table[workload]?.[0] ?? 0) + 1, ready];
  }
  return table;
}

/** Containers that were restarted: `pod/container`. */
export function restartsOf(all: readonly V1Pod[]): string[] {
  return all.flatMap(({ metadata, status }) =>
    (status?.containerStatuses ?? []).flatMap(({ name, restartCount }) =>
      restartCount > 0 ? [`${metadata?.name}/${name}`] : [],
    ),
  );
}

/** Pods that an upgrade did not replace: those of before, and those with a container of another tag. */
export function notReplaced(all: readonly V1Pod[], before: readonly V1Pod[], tag: string): string[] {
  const old = new Set(before.map(({ metadata }) => metadata?.uid));
  return all
    .filter(
      ({ metadata, spec }) =>
        old.has(metadata?.uid) || spec?.containers.some(({ image }) => !image?.endsWith(`/busybox:${tag}`)),
    )
    .map(({ metadata }) => metadata?.name ?? '');
}

/** Components whose first pod is older than the last one of a component that they depend on, one sentence each. */
export function disorderIn({ spec }: TrafficStack, all: readonly V1Pod[]): string[] {
  const created = (component: string): number[] =>
    all
      .filter(({ metadata }) => metadata?.labels?.[COMPONENT] === component)
      .map(({ metadata }) => Number(new Date(metadata?.creationTimestamp ?? 0)));
  return spec.components.flatMap(({ name, dependsOn = [] }) =>
    dependsOn.flatMap((dependency) =>
      Math.min(...created(name)) < Math.max(...created(dependency)) ? [`${name} began before ${dependency}`] : [],
    ),
  );
}

/**
 * Whether the removal of the stack has come as far as it can while a node is off: the components that no other one needs have pods on
 * that node alone.
 */
export function isHeldBy(node: string, { spec }: TrafficStack, all: readonly V1Pod[]): boolean {
  const needed = new Set(spec.components.flatMap(({ dependsOn = [] }) => dependsOn));
  const last = all.filter(({ metadata }) => !needed.has(metadata?.labels?.[COMPONENT] ?? ''));
  return last.length > 0 && last.every((pod) => pod.spec?.nodeName === node);
}

/** Components that end, or are gone, before one that depends on them is gone, one sentence each. */
export function removalDisorderIn({ spec }: TrafficStack, all: readonly V1Pod[]): string[] {
  const of = (component: string) => all.filter(({ metadata }) => metadata?.labels?.[COMPONENT] === component);
  const ends = (component: string): boolean =>
    of(component).every(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  return spec.components
    .filter(({ name }) => of(name).length > 0)
    .flatMap(({ name, dependsOn = [] }) => dependsOn.filter(ends).map((each) => `${each} ended before ${name}`));
}

/** What a component is doing, for one line. */
export function told({ name, state, message, replicas, readyReplicas }: ComponentStatus): string {
  const pods = replicas === undefined ? '' : ` ${readyReplicas ?? 0}/${replicas}`;
  return `${name}: ${state}${pods}${state === 'Ready' ? '' : `: ${message}`}`;
}

/** The URLs of each component with several pods that has a Service: that of the Service, and those of its pods. */
export function urlsOf({ spec }: TrafficStack, masters: number): Map<string, { service: string; pods: string[] }> {
  const urls = new Map<string, { service: string; pods: string[] }>();
  for (const { name, workload } of spec.components.filter(isWorkload)) {
    const { replicas = masters, services = [] } = workload;
    const service = services.find(({ headless }) => headless !== true);
    const members = services.find(({ headless }) => headless === true);
    if (service === undefined || members === undefined || replicas < 2) continue;
    const url = (host: string): string => `http://${host}.${NAMESPACE}.svc:${service.ports[0]?.port}/etc/passwd`;
    const ordinals = Array.from({ length: replicas }, (_, ordinal) => ordinal);
    urls.set(name, {
      service: url(service.name ?? name),
      pods: ordinals.map((ordinal) => url(`${workload.name}-${ordinal}.${members.name}`)),
    });
  }
  return urls;
}
