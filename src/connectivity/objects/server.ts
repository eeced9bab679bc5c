import type { V1Container, V1Deployment, V1Service, V1ServiceAccount } from '@kubernetes/client-node';
import { PING_PATH } from '../protocol/ping.ts';
import {
  AGENT_NAME,
  appLabel,
  NODE_PORT,
  SERVER_NAME,
  SERVER_PORT,
  SERVICE_NAME,
  type ConnectivityOptions,
} from './names.ts';
import { ownNames, priorityOf, pullSecrets, RESTRICTED_CONTAINER, RESTRICTED_POD } from './podParts.ts';

const PORT_NAME = 'http';

export function serverAccount({ namespace }: ConnectivityOptions): V1ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: SERVER_NAME, namespace, labels: appLabel(SERVER_NAME) },
    // Mounted by the server's pods alone.
    automountServiceAccountToken: false,
  };
}

/** The Service of the original name. A NodePort opens the API on every node. */
export function serverService({ namespace, serviceType }: ConnectivityOptions): V1Service {
  const nodePort = serviceType === 'NodePort' ? { nodePort: NODE_PORT } : {};
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE_NAME, namespace, labels: appLabel(SERVER_NAME) },
    spec: {
      type: serviceType,
      selector: appLabel(SERVER_NAME),
      ports: [{ name: PORT_NAME, port: SERVER_PORT, targetPort: PORT_NAME, protocol: 'TCP', ...nodePort }],
    },
  };
}

/** One replica: two would share the reports of the agents between them. */
export function serverDeployment(options: ConnectivityOptions): V1Deployment {
  const { nodeSelector, tolerations } = options.server;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: SERVER_NAME, namespace: options.namespace, labels: appLabel(SERVER_NAME) },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: appLabel(SERVER_NAME) },
      template: {
        metadata: { labels: appLabel(SERVER_NAME) },
        spec: {
          serviceAccountName: SERVER_NAME,
          automountServiceAccountToken: true,
          enableServiceLinks: false,
          nodeSelector: { 'kubernetes.io/os': 'linux', ...nodeSelector },
          ...(tolerations.length === 0 ? {} : { tolerations: [...tolerations] }),
          ...priorityOf(options.server),
          ...pullSecrets(options),
          securityContext: RESTRICTED_POD,
          containers: [container(options)],
        },
      },
    },
  };
}

function container({
  image,
  imagePullPolicy,
  server,
  namespace,
  agentsNamespace,
  reportIntervalSeconds,
  allowAnonymous,
}: ConnectivityOptions): V1Container {
  // Not of the caches: the server answers agents while the API server is away.
  const probe = { httpGet: { path: PING_PATH, port: PORT_NAME }, timeoutSeconds: 3 };
  return {
    name: 'server',
    image,
    imagePullPolicy,
    args: [
      'connectivity-server',
      `-endpoint=:${SERVER_PORT}`,
      `-agents-namespace=${namespace}`,
      `-reportinterval=${reportIntervalSeconds}`,
      // Original agents run in other namespaces, with other ServiceAccounts, and are to be counted, too.
      ...(allowAnonymous ? [] : [`--agent-service-account=${agentsNamespace}/${AGENT_NAME}`]),
      `--allow-anonymous=${allowAnonymous}`,
    ],
    env: ownNames(),
    ports: [{ name: PORT_NAME, containerPort: SERVER_PORT, protocol: 'TCP' }],
    readinessProbe: { ...probe, periodSeconds: 5 },
    livenessProbe: { ...probe, periodSeconds: 30 },
    resources: server.resources,
    securityContext: RESTRICTED_CONTAINER,
  };
}
