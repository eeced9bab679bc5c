import type { V1Pod } from '@kubernetes/client-node';
import { applyObjects, getObject, kubectl } from './kubectl.ts';

/** The lab's own iperf3 image. */
const IMAGE = 'docker.io/networkstatic/iperf3:lab';
const NAMESPACE = 'traffic';
const SERVER_PORT = 5201;
/** Traffic ends by itself after this time, also if the test is killed: seconds. */
const LONGEST = 900;

/** Pods with a fixed node, without the scheduler: the scenario decides where the traffic is. */
function pod(name: string, nodeName: string, args: readonly string[]) {
  const resources = { requests: { cpu: '10m', memory: '16Mi' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: { app: 'traffic' } },
    spec: {
      nodeName,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'iperf3', image: IMAGE, imagePullPolicy: 'IfNotPresent', args, resources }],
    },
  };
}

async function podAddress(name: string): Promise<string> {
  await kubectl('wait', '-n', NAMESPACE, `pod/${name}`, '--for=condition=Ready', '--timeout=300s');
  const { status } = await getObject<{ status: { podIP: string } }>('pod', name, '-n', NAMESPACE);
  return status.podIP;
}

/**
 * Fills the link of `sender` with TCP to a pod on `receiver`, until stopTraffic or for 15 minutes.
 * Replaces running traffic. Resolves to its start time in whole seconds.
 */
export async function startTraffic(sender: string, receiver: string): Promise<Date> {
  await stopTraffic();
  await applyObjects([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    pod('iperf3-server', receiver, ['-s', '-p', `${SERVER_PORT}`]),
  ]);
  const address = await podAddress('iperf3-server');
  await applyObjects([
    pod('iperf3-client', sender, ['-c', address, '-p', `${SERVER_PORT}`, '-P', '4', '-t', `${LONGEST}`]),
  ]);
  await podAddress('iperf3-client');
  const { status } = await getObject<V1Pod>('pod', 'iperf3-client', '-n', NAMESPACE);
  return new Date(status!.containerStatuses![0]!.state!.running!.startedAt!);
}

/** Ends the traffic, if any. */
export async function stopTraffic(): Promise<void> {
  await kubectl(
    'delete',
    'pod',
    '-n',
    NAMESPACE,
    '-l',
    'app=traffic',
    '--ignore-not-found',
    '--wait',
    '--grace-period=0',
    '--force',
  );
}
