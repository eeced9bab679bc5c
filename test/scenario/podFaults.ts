import type { V1ConfigMap, V1Container, V1PodSpec } from '@kubernetes/client-node';
import type { ComponentSpec, TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import type { WorkloadKind } from '../../src/api/trafficstack/terms.ts';

/** A fault of the pods of a component, as real kubelets report it, in a stack and a namespace of its own. */
export interface PodFault {
  /** Also the name of the stack and of the namespace. */
  readonly name: string;
  readonly kind: WorkloadKind;
  /** Additional fields of the container of the component a. */
  readonly container: Partial<V1Container>;
  readonly pod?: Partial<V1PodSpec>;
  readonly configMap?: V1ConfigMap;
  /** The message of the stack about a. */
  readonly observed: RegExp;
  /** The container of a without the fault, if the fault is in the spec. */
  readonly corrected?: Partial<V1Container>;
  /** The ConfigMap without the fault. */
  readonly correctedMap?: V1ConfigMap;
}

const configMap = (name: string, data: Record<string, string>): V1ConfigMap => ({ metadata: { name }, data });
/** It needs 64 MiB, in one piece, before it serves. */
const HUNGRY = ['sh', '-c', 'dd if=/dev/zero of=/dev/null bs=64M count=1 && exec httpd -f -p 8080 -h /'];
/**
 * The kubelet sends the first 25 events of a pod and then one in five minutes: the answers of a server on a busy machine must not come
 * too late for the probe so often that its 404 is no longer sent.
 */
const probe = (path: string) => ({
  readinessProbe: { httpGet: { path, port: 8080 }, periodSeconds: 1, timeoutSeconds: 30 },
});
const memory = (limit: string) => ({ command: HUNGRY, resources: { limits: { memory: limit } } });

export const POD_FAULTS: readonly PodFault[] = [
  {
    ...{ name: 'crash', kind: 'StatefulSet', container: { command: ['sh', '-c', 'exit 7'] }, corrected: {} },
    observed: /pod crash\/a-0, container a: CrashLoopBackOff: .*; it ended with exit code 7/,
  },
  {
    // Nothing listens there: a registry that does not answer takes a minute.
    ...{ name: 'image', kind: 'StatefulSet', container: { image: '127.0.0.1:1/missing:1' }, corrected: {} },
    observed: /pod image\/a-0, container a: (ErrImagePull|ImagePullBackOff)/,
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

/** A component of one container with its name, which serves HTTP on port 8080. @param over other fields of the container */
export function servingComponent(
  [name, ...dependsOn]: [string, ...string[]],
  workload: { readonly kind: WorkloadKind; readonly namespace: string; readonly replicas?: number },
  over: Partial<V1Container> = {},
  pod: Partial<V1PodSpec> = {},
): ComponentSpec {
  const container: V1Container = {
    ...{ name, image: 'docker.io/library/busybox:1.36', command: ['httpd', '-f', '-p', '8080', '-h', '/'] },
    ...{ readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 }, ...over },
  };
  const podTemplate = { spec: { terminationGracePeriodSeconds: 1, containers: [container], ...pod } };
  return { name, type: 'Workload', dependsOn, workload: { ...workload, podTemplate } };
}

/** The stack of a fault: c depends on b, and b on a. @param container of a */
export function stackOf({ name, kind, pod }: PodFault, container: Partial<V1Container>): TrafficStack {
  const of = (one: WorkloadKind) => ({ kind: one, namespace: name });
  return {
    ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name } },
    spec: {
      components: [
        servingComponent(['c', 'b'], of('Deployment')),
        servingComponent(['b', 'a'], of('StatefulSet')),
        servingComponent(['a'], of(kind), container, pod),
      ],
    },
  };
}

/** The ConfigMap in the namespace of a fault, to apply; none if there is none. */
export const mapIn = (namespace: string, map?: V1ConfigMap): object[] =>
  map === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', ...map, metadata: { ...map.metadata, namespace } }];
