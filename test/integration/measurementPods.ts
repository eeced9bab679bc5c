import type { V1DaemonSet, V1EndpointSlice, V1Pod } from '@kubernetes/client-node';
import { prometheusSelector } from '../../src/controllers/measurement/components/prometheus.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { DAEMONSETS, PODS } from '../../src/runtime/client/resources.ts';
import type { ObjectRef } from '../../src/runtime/client/resource.ts';

/** Does the work of the DaemonSet controller and of kubelets for exporters: neither runs here. */
const KUBELET = { fieldManager: 'kubelet', subresource: 'status' };

/** Status of a pod whose container crashes repeatedly, for example because its port is in use on the node. */
export const CRASHING = {
  containerStatuses: [
    {
      name: 'node-exporter',
      image: 'i',
      imageID: '',
      ready: false,
      restartCount: 5,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1 } },
    },
  ],
};

/** Creates the DaemonSet's pod of one node with this status. */
export async function addExporterPod(
  client: Client,
  { metadata, spec }: V1DaemonSet,
  node: string,
  status: object,
): Promise<void> {
  const ref = { namespace: metadata!.namespace!, name: `exporter-${node}` };
  const { template } = spec!;
  const pod: V1Pod = {
    metadata: { ...ref, labels: template.metadata!.labels },
    spec: { ...template.spec!, nodeName: node },
  };
  await client.create(PODS, pod);
  await client.mergePatch(PODS, ref, { status }, KUBELET);
}

/** Writes the DaemonSet's status: how many exporters are ready, and that every node has a pod. */
export async function reportReady(
  client: Client,
  daemonSet: ObjectRef,
  ready: number,
  of: number,
  made = of,
): Promise<void> {
  const counts = {
    desiredNumberScheduled: of,
    currentNumberScheduled: made,
    numberMisscheduled: 0,
    numberReady: ready,
  };
  await client.mergePatch(DAEMONSETS, daemonSet, { status: counts }, KUBELET);
}

/** A pod that the Deployment of Prometheus would have. */
export function prometheusPod(namespace: string, name: string): V1Pod {
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  return {
    metadata: { namespace, name, labels: prometheusSelector(namespace) },
    spec: { containers: [{ name: 'prometheus', image: 'prometheus', securityContext }] },
  };
}

/** An EndpointSlice of the exporter: node name -> address. */
export function sliceOf(
  namespace: string,
  name: string,
  endpoints: Record<string, string>,
  addressType: 'IPv4' | 'IPv6',
): V1EndpointSlice {
  return {
    metadata: {
      namespace: `${namespace}-node-exporter`,
      name,
      labels: { 'kubernetes.io/service-name': 'node-exporter' },
    },
    addressType,
    ports: [{ name: 'metrics', port: 9100, protocol: 'TCP' }],
    endpoints: Object.entries(endpoints).map(([nodeName, address]) => ({ nodeName, addresses: [address] })),
  };
}
