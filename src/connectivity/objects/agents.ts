import type { V1Container, V1DaemonSet, V1ServiceAccount } from '@kubernetes/client-node';
import { AGENT_NAME, appLabel, HOST_AGENT_NAME, SERVER_PORT, SERVICE_NAME, type ConnectivityOptions } from './names.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './podParts.ts';

/** The agents use no API. */
export function agentAccount({ namespace }: ConnectivityOptions): V1ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: AGENT_NAME, namespace, labels: appLabel(AGENT_NAME) },
    automountServiceAccountToken: false,
  };
}

/** The two DaemonSets: agents in the network of the pods, and in that of the nodes. */
export function agentDaemonSets(options: ConnectivityOptions): V1DaemonSet[] {
  return [daemonSet(AGENT_NAME, options, {}), daemonSet(HOST_AGENT_NAME, options, HOST_NETWORK)];
}

/** A pod in the network of its node needs this policy, or it does not ask the DNS of the cluster. */
const HOST_NETWORK = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' };

function daemonSet(name: string, options: ConnectivityOptions, network: object): V1DaemonSet {
  const { namespace, nodeSelector } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace, labels: appLabel(name) },
    spec: {
      selector: { matchLabels: appLabel(name) },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: { labels: appLabel(name) },
        spec: {
          ...network,
          serviceAccountName: AGENT_NAME,
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector },
          tolerations: [{ operator: 'Exists' }],
          securityContext: RESTRICTED_POD,
          containers: [container(options)],
        },
      },
    },
  };
}

function container({ image, reportIntervalSeconds, namespace }: ConnectivityOptions): V1Container {
  return {
    name: 'agent',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      'connectivity-agent',
      `-serverendpoint=${SERVICE_NAME}.${namespace}:${SERVER_PORT}`,
      `-reportinterval=${reportIntervalSeconds}`,
    ],
    env: [
      { name: 'MY_POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'MY_NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    securityContext: RESTRICTED_CONTAINER,
  };
}
