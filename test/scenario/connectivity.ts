import type { V1Pod } from '@kubernetes/client-node';
import type { ConnectivityCheck } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { sleep } from '../harness/measured.ts';
import { inNode } from '../lab/lab.ts';
import { NAMESPACE, operatorLogs } from './install.ts';
import { keepKilling } from './kill.ts';
import { getObject, kubectl } from './kubectl.ts';

/** The first ConnectivityCheck that the operator creates. */
export const CHECK = 'default';
/** A quarter of the 10 s after which a kubelet renews its Lease. */
const LEASE_RENEWED_MS = 2_500;
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

/**
 * Stops the kubelet of a node, and renews the Lease of the node in its place: after 20 s without either, the node would be NotReady and be
 * left out, on a busy machine before the finding. Returns what lets the kubelet continue.
 */
export async function hangKubelet(node: string): Promise<() => Promise<void>> {
  const signal = (name: 'STOP' | 'CONT') => inNode(node, ['sh', '-c', `kill -${name} "$(cat /run/lab/kubelet.pid)"`]);
  await signal('STOP');
  // The next one may succeed.
  const renewing = setInterval(() => void renewLease(node).catch(() => undefined), LEASE_RENEWED_MS);
  return async () => {
    clearInterval(renewing);
    await signal('CONT');
  };
}

async function renewLease(node: string): Promise<void> {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const patch = JSON.stringify({ spec: { renewTime } });
  await kubectl('patch', 'lease', node, '-n', 'kube-node-lease', '--type=merge', '--patch', patch);
}

/** An outage of the status. */
export interface SeenOutage {
  /** Its class, subject and start. */
  readonly id: string;
  /** As `Class subject`. */
  readonly subject: string;
  /** ms since the epoch, of the second in which it began. */
  readonly startedAt: number;
  /** How long it was, ms; Infinity while it is there. */
  readonly ms: number;
}

/** The outages that the check has recorded. */
export async function outages(): Promise<SeenOutage[]> {
  const { status } = await check();
  return (status?.outages ?? []).map(({ class: one, subjects, start, end }) => {
    const subject = `${one} ${subjects.join()}`;
    const startedAt = new Date(start).getTime();
    const ms = end === undefined ? Infinity : new Date(end).getTime() - startedAt;
    return { id: `${subject} ${start}`, subject, startedAt, ms };
  });
}

/** Reads the findings again and again. `stop` ends that, and returns how long each was seen without a break, ms, by `Class subject`. */
export function watchFindings(everyMs: number): { readonly stop: () => Promise<ReadonlyMap<string, number>> } {
  const longest = new Map<string, number>();
  const since = new Map<string, number>();
  const ended = new AbortController();
  const read = async (): Promise<void> => {
    const found = new Set(await findings());
    const now = performance.now();
    for (const one of since.keys()) if (!found.has(one)) since.delete(one);
    for (const one of found) {
      if (!since.has(one)) since.set(one, now);
      longest.set(one, Math.max(longest.get(one) ?? 0, now - since.get(one)!));
    }
  };
  const watching = (async () => {
    while (!ended.signal.aborted) {
      // The API server of a busy machine may not answer for a moment.
      await read().catch(() => undefined);
      await sleep(everyMs);
    }
  })();
  const stop = async (): Promise<ReadonlyMap<string, number>> => {
    ended.abort();
    await watching;
    return longest;
  };
  return { stop };
}

/**
 * With SHOW_STATUS=1, prints the status for docs/connectivity.md, when all agents have measured.
 *
 * @param what is at fault
 * @param intervalMs of the check
 */
export async function showStatus(what: string, intervalMs: number): Promise<void> {
  if (process.env.SHOW_STATUS === undefined) return;
  await sleep(1.5 * intervalMs);
  console.log(`--- ${what}`);
  console.log(await kubectl('get', 'connectivitycheck'));
  console.log(await kubectl('get', 'connectivitycheck', CHECK, '-o', 'yaml'));
  console.log(await kubectl('get', 'pods', '-n', AGENTS_NAMESPACE, '-o', 'wide'));
}

/** Prints what tells why a story about the check failed. */
export async function connectivityReport(): Promise<void> {
  console.error(await kubectl('get', 'pods', '-A', '-o', 'wide').catch(String));
  console.error(await kubectl('get', 'connectivitycheck', CHECK, '-o', 'yaml').catch(String));
  console.error(await operatorLogs().catch(String));
  console.error(await kubectl('logs', '-n', NAMESPACE, 'deployment/netchecker-server', '--tail=30').catch(String));
}
