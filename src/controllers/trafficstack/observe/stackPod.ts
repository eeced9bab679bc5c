import type { V1ContainerStatus, V1ObjectMeta, V1Pod } from '@kubernetes/client-node';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import type { StackContainer, StackPod } from '../model/observation.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';

/** Phases of a pod that no longer runs. */
const FINISHED: ReadonlySet<string | undefined> = new Set(['Failed', 'Succeeded']);

/** Keeps the fields of a pod that explain why it is not ready. */
export function trimPod(pod: KubeObject): StackPod {
  const { metadata, spec, status } = pod as V1Pod;
  const { name = '', namespace = '', uid, resourceVersion, labels = {} } = metadata ?? {};
  // Anybody may give a pod the labels of a stack.
  const workload = workloadOf(metadata);
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return {
    metadata: {
      ...{ name, namespace, labels: { [STACK_LABEL]: labels[STACK_LABEL] ?? '' } },
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    key: keyOf(pod),
    component: podIndexOf(namespace, labels[STACK_LABEL], workload === '' ? '' : labels[COMPONENT_LABEL]),
    workload,
    isEnding: metadata?.deletionTimestamp !== undefined,
    createdAt: Number(new Date(metadata?.creationTimestamp ?? 0)),
    nodeName: spec?.nodeName,
    claims: (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []),
    revisionHash: labels['controller-revision-hash'] ?? '',
    containers: containers.map(trimContainer),
    unscheduledMessage: scheduled?.status === 'False' ? (scheduled.message ?? scheduled.reason ?? '') : undefined,
    finished: FINISHED.has(status?.phase)
      ? { reason: status?.reason ?? '', message: status?.message ?? '' }
      : undefined,
  };
}

/** Keeps only bounded fields of a pod that exceeds the memory of its namespace. */
export function identityOfPod(pod: StackPod): StackPod {
  const finished = pod.finished && { reason: '', message: '' };
  return { ...pod, containers: [], claims: [], unscheduledMessage: undefined, finished, isUnread: true };
}

/**
 * Returns the workload that made a pod, by its controller. The ReplicaSet of a Deployment is named after the Deployment and the hash of the template,
 * so that it need not be read.
 */
export function workloadOf({ ownerReferences = [], labels = {} }: V1ObjectMeta = {}): string {
  const { kind = '', name = '' } = ownerReferences.find(({ controller }) => controller === true) ?? {};
  if (kind === 'StatefulSet' || kind === 'DaemonSet') return `${kind} ${name}`;
  const suffix = `-${labels['pod-template-hash'] ?? ''}`;
  const isOfDeployment = kind === 'ReplicaSet' && suffix.length > 1 && name.endsWith(suffix);
  return isOfDeployment ? `Deployment ${name.slice(0, -suffix.length)}` : '';
}

/** Returns the key of the pod index. */
export function podIndexOf(namespace: string, stack = '', component = ''): string {
  return `${namespace}/${stack}/${component}`;
}

function trimContainer({ name, ready, restartCount, state, lastState }: V1ContainerStatus): StackContainer {
  const { terminated } = state ?? {};
  const waiting = state?.waiting;
  const last = terminated ?? lastState?.terminated;
  return {
    ...{ name, isReady: ready, isRunning: state?.running !== undefined },
    waiting: waiting && { reason: waiting.reason ?? 'Waiting', message: waiting.message ?? '' },
    ended: terminated === undefined ? undefined : (terminated.reason ?? 'Error'),
    lastExit: last?.exitCode,
    lastReason: last?.reason,
    restarts: restartCount,
  };
}
