import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import type { StackContainer, StackPod } from './observation.ts';

/** Of a pod, what tells why it is not ready. */
export function trimPod(pod: KubeObject): StackPod {
  const { metadata, spec, status } = pod as V1Pod;
  const { name = '', namespace = '', uid, resourceVersion, labels = {}, ownerReferences = [] } = metadata ?? {};
  // Anybody may give a pod the labels of a stack.
  const isControlled = ownerReferences.some(({ controller }) => controller === true);
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return {
    metadata: {
      ...{ name, namespace, labels: { [STACK_LABEL]: labels[STACK_LABEL] ?? '' } },
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    key: keyOf(pod),
    component: isControlled ? podIndexOf(namespace, labels[STACK_LABEL], labels[COMPONENT_LABEL]) : '',
    isEnding: metadata?.deletionTimestamp !== undefined,
    createdAt: Number(new Date(metadata?.creationTimestamp ?? 0)),
    isScheduled: spec?.nodeName !== undefined,
    claims: (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []),
    revisionHash: labels['controller-revision-hash'] ?? '',
    containers: containers.map(trimContainer),
    unscheduledMessage: scheduled?.status === 'False' ? (scheduled.message ?? scheduled.reason ?? '') : undefined,
  };
}

/** The value of the index of pods. */
export function podIndexOf(namespace: string, stack = '', component = ''): string {
  return `${namespace}/${stack}/${component}`;
}

function trimContainer({ name, ready, restartCount, state, lastState }: V1ContainerStatus): StackContainer {
  const { terminated } = state ?? {};
  const waiting = state?.waiting;
  return {
    ...{ name, isReady: ready, isRunning: state?.running !== undefined },
    waiting: waiting && { reason: waiting.reason ?? 'Waiting', message: waiting.message ?? '' },
    ended: terminated && (terminated.reason ?? 'Error'),
    lastExit: terminated?.exitCode ?? lastState?.terminated?.exitCode,
    restarts: restartCount,
  };
}
