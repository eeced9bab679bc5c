import type { V1ContainerStatus, V1Lease, V1Pod } from '@kubernetes/client-node';
import { NAMESPACE, operatorLogs } from './install.ts';
import { freezeContainer } from './kill.ts';
import { getObject } from './kubectl.ts';

/** Name of the operator's pod that leads, from the Lease. */
export async function leaderPod(): Promise<string> {
  const lease = await getObject<V1Lease>('lease', 'traffic-operator', '-n', NAMESPACE);
  return (lease.spec?.holderIdentity ?? '').split('_')[0] ?? '';
}

/** How often an operator has stopped leading, from the logs of the pods that there are. Its Lease does not tell: the same one may lead again. */
export async function timesStopped(): Promise<number> {
  return (await operatorLogs({ lines: -1 })).split('"msg":"stopped leading"').length - 1;
}

/** The container status of one of the operator's pods. */
export async function containerOf(pod: string): Promise<V1ContainerStatus> {
  const { status } = await getObject<V1Pod>('pod', pod, '-n', NAMESPACE);
  return status!.containerStatuses![0]!;
}

/** Makes the leader hang. Returns its pod, the time, and the restart count of its container before. */
export async function freezeLeader(): Promise<{ pod: string; since: Date; restarts: number }> {
  const pod = await leaderPod();
  const { containerID, restartCount } = await containerOf(pod);
  const since = new Date();
  freezeContainer(containerID!);
  return { pod, since, restarts: restartCount };
}
