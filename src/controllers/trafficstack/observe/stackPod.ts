import type { V1ContainerStatus, V1ObjectMeta, V1Pod } from '@kubernetes/client-node';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import type { StackContainer, StackPod } from './observation.ts';

/** Phases of a pod that runs no more. */
const FINISHED: ReadonlySet<string | undefined> = new Set(['Failed', 'Succeeded']);

/** Of a pod, what tells why it is not ready. */
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
    component: workload === '' ? '' : podIndexOf(namespace, labels[STACK_LABEL], labels[COMPONENT_LABEL]),
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

/** Keeps of a pod that exceeds the memory of its namespace only fields of a bounded size. */
export function identityOfPod(pod: StackPod): StackPod {
  const finished = pod.finished && { reason: '', message: '' };
  return { ...pod, containers: [], claims: [], unscheduledMessage: undefined, finished, isUnread: true };
}

/**
 * The workload that made a pod, by its controller. That of a Deployment is a ReplicaSet, which has the name of the Deployment and the hash of
 * the template, so that no ReplicaSet has to be read.
 */
function workloadOf({ ownerReferences = [], labels = {} }: V1ObjectMeta = {}): string {
  const { kind = '', name = '' } = ownerReferences.find(({ controller }) => controller === true) ?? {};
  if (kind === 'StatefulSet' || kind === 'DaemonSet') return `${kind} ${name}`;
  const suffix = `-${labels['pod-template-hash'] ?? ''}`;
  const isOfDeployment = kind === 'ReplicaSet' && suffix.length > 1 && name.endsWith(suffix);
  return isOfDeployment ? `Deployment ${name.slice(0, -suffix.length)}` : '';
}

/** The value of the index of pods. */
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
