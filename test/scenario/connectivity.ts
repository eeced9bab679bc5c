import type { V1Pod } from '@kubernetes/client-node';
import type { ConnectivityCheck } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { inNode } from '../lab/lab.ts';
import { NAMESPACE } from './install.ts';
import { keepKilling } from './kill.ts';
import { getObject, kubectl } from './kubectl.ts';

/** The first ConnectivityCheck that the operator creates. */
export const CHECK = 'default';
export const AGENTS_NAMESPACE = `${NAMESPACE}-connectivity`;

export async function check(): Promise<ConnectivityCheck> {
  return getObject<ConnectivityCheck>('connectivitycheck', CHECK);
}

/** Findings as `Class subject`. */
export async function findings(): Promise<string[]> {
  const { status } = await check();
  return (status?.findings ?? []).map(({ class: one, subjects }) => `${one} ${subjects.join()}`);
}

/** Whether the check is Healthy, by its present spec. */
export function isHealthy({ metadata, status }: ConnectivityCheck): boolean {
  return status?.verdict === 'Healthy' && status.observedGeneration === metadata?.generation;
}

/** The pods of a DaemonSet or Deployment, by the label `app`. */
async function podsOf(namespace: string, app: string): Promise<V1Pod[]> {
  return (await getObject<{ items: V1Pod[] }>('pods', '-n', namespace, '-l', `app=${app}`)).items;
}

/** The agent of the pod network of a node. */
export async function agentOf(node: string): Promise<V1Pod> {
  const pods = await podsOf(AGENTS_NAMESPACE, 'netchecker-agent');
  const pod = pods.find(({ spec, metadata }) => spec?.nodeName === node && metadata?.deletionTimestamp === undefined);
  if (pod === undefined) throw new Error(`no agent on ${node}`);
  return pod;
}

export async function serverPod(): Promise<V1Pod> {
  const [pod] = await podsOf(NAMESPACE, 'netchecker-server');
  if (pod === undefined) throw new Error('no server');
  return pod;
}

/** The pod of the DNS of the cluster. */
export async function dnsPod(): Promise<V1Pod> {
  const [pod] = (await getObject<{ items: V1Pod[] }>('pods', '-n', 'kube-system', '-l', 'k8s-app=kube-dns')).items;
  if (pod === undefined) throw new Error('no DNS');
  return pod;
}

/** Keeps a pod from running, until the returned function replaces it: the new pod is started without a backoff. */
export function crash({ metadata }: V1Pod, command: string): () => Promise<void> {
  const stop = keepKilling(metadata!.uid!, command);
  return async () => {
    stop();
    await kubectl('delete', 'pod', metadata!.name!, '-n', metadata!.namespace!, '--grace-period=1');
  };
}

/** Stops the kubelet of a node, or lets it continue. After 20 s without it the node is NotReady. */
export async function signalKubelet(node: string, signal: 'STOP' | 'CONT'): Promise<void> {
  await inNode(node, ['sh', '-c', `kill -${signal} "$(cat /run/lab/kubelet.pid)"`]);
}
