import type { V1ContainerStatus, V1Lease, V1Pod } from '@kubernetes/client-node';
import { NAMESPACE, operatorLogs } from './install.ts';
import { freezeContainer } from './kill.ts';
import { getObject } from './kubectl.ts';

/** The identity of the process that leads, from the Lease: no two processes of a pod have the same one. */
export async function leader(): Promise<string> {
  const lease = await getObject<V1Lease>('lease', 'traffic-operator', '-n', NAMESPACE);
  return lease.spec?.holderIdentity ?? '';
}

/** Name of the operator's pod that leads. */
export async function leaderPod(): Promise<string> {
  return podOf(await leader());
}

/** Name of the pod of a process. */
export function podOf(identity: string): string {
  return identity.split('_')[0] ?? '';
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

/** When the container of a pod started that runs now: ms since the epoch, of a whole second. */
export async function startOf(pod: string): Promise<number> {
  const startedAt = (await containerOf(pod)).state?.running?.startedAt;
  if (startedAt === undefined) throw new Error(`the container of ${pod} does not run`);
  return new Date(startedAt).getTime();
}

/** Makes the leader hang. Returns its identity and pod, the time, and the restart count of its container before. */
export async function freezeLeader(): Promise<{ identity: string; pod: string; since: Date; restarts: number }> {
  const identity = await leader();
  const pod = podOf(identity);
  const { containerID, restartCount } = await containerOf(pod);
  const since = new Date();
  freezeContainer(containerID!);
  return { identity, pod, since, restarts: restartCount };
}
