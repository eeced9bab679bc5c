import type { V1Container, V1Deployment, V1PodSpec, V1Service, V1ServiceAccount } from '@kubernetes/client-node';
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
import { ownNames, priorityOf, pullSecrets, RESTRICTED_CONTAINER, restrictedPod } from './podParts.ts';

/** Where the certificate of the server is mounted. */
const CERTIFICATE = 'certificate';
const CERTIFICATE_DIRECTORY = '/etc/traffic-operator/certificate';

/** Returns the name of the server's port. It is the protocol, since service meshes and NetworkPolicies use the name. */
function portName({ tlsSecretName }: ConnectivityOptions): 'http' | 'https' {
  return tlsSecretName === '' ? 'http' : 'https';
}

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
export function serverService(options: ConnectivityOptions): V1Service {
  const { namespace, serviceType } = options;
  const name = portName(options);
  const nodePort = serviceType === 'NodePort' ? { nodePort: NODE_PORT } : {};
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE_NAME, namespace, labels: appLabel(SERVER_NAME) },
    spec: {
      type: serviceType,
      selector: appLabel(SERVER_NAME),
      ports: [{ name, port: SERVER_PORT, targetPort: name, protocol: 'TCP', ...nodePort }],
    },
  };
}

/** Returns the Deployment of the server. It has one replica: each of two would get only a part of the reports. */
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
          securityContext: restrictedPod(options),
          containers: [container(options)],
          ...certificate(options).volumes,
        },
      },
    },
  };
}

function container(options: ConnectivityOptions): V1Container {
  const { image, imagePullPolicy, server, namespace, agentsNamespace } = options;
  const { reportIntervalSeconds, allowAnonymous } = options;
  const name = portName(options);
  const { args, scheme, mounts } = certificate(options);
  // Not of the caches: the server answers agents while the API server is away.
  const probe = { httpGet: { path: PING_PATH, port: name, ...scheme }, timeoutSeconds: 3 };
  return {
    name: 'server',
    image,
    imagePullPolicy,
    args: [
      'connectivity-server',
      `-endpoint=:${SERVER_PORT}`,
      `-agents-namespace=${namespace}`,
      `-reportinterval=${reportIntervalSeconds}`,
      // Original agents run in other namespaces, with other ServiceAccounts, and must also be counted.
      ...(allowAnonymous ? [] : [`--agent-service-account=${agentsNamespace}/${AGENT_NAME}`]),
      `--allow-anonymous=${allowAnonymous}`,
      ...args,
    ],
    env: ownNames(),
    ports: [{ name, containerPort: SERVER_PORT, protocol: 'TCP' }],
    readinessProbe: { ...probe, periodSeconds: 5 },
    livenessProbe: { ...probe, periodSeconds: 30 },
    resources: server.resources,
    securityContext: RESTRICTED_CONTAINER,
    ...mounts,
  };
}

/** The parts that HTTPS adds to the pod. The kubelet does not verify certificates when it probes. */
interface CertificateParts {
  readonly args: readonly string[];
  readonly scheme: { readonly scheme?: 'HTTPS' };
  readonly mounts: Pick<V1Container, 'volumeMounts'>;
  readonly volumes: Pick<V1PodSpec, 'volumes'>;
}

/** Returns the parts of HTTPS. The Secret is mounted as a directory, so that the kubelet renews the files. */
function certificate({ tlsSecretName: secretName }: ConnectivityOptions): CertificateParts {
  if (secretName === '') return { args: [], scheme: {}, mounts: {}, volumes: {} };
  const items = ['tls.crt', 'tls.key'].map((key) => ({ key, path: key }));
  return {
    args: [`--tls-cert-path=${CERTIFICATE_DIRECTORY}`],
    scheme: { scheme: 'HTTPS' },
    mounts: { volumeMounts: [{ name: CERTIFICATE, mountPath: CERTIFICATE_DIRECTORY, readOnly: true }] },
    volumes: { volumes: [{ name: CERTIFICATE, secret: { secretName, items } }] },
  };
}
