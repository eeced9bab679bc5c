import type {
  V1ConfigMap,
  V1Container,
  V1DaemonSet,
  V1PodSpec,
  V1Service,
  V1ServiceAccount,
  V1Volume,
} from '@kubernetes/client-node';
import type { Plane } from '../../api/connectivitycheck/terms.ts';
import { realNodes } from '../../nodes/virtualNodes.ts';
import {
  AGENT_NAME,
  appLabel,
  HOST_AGENT_NAME,
  PEER_PORT_NAME,
  SERVER_CA_KEY,
  SERVER_CA_NAME,
  serverAddress,
  TOKEN_AUDIENCE,
  type ConnectivityOptions,
} from './names.ts';
import { ownNames, priorityOf, pullSecrets, RESTRICTED_CONTAINER, restrictedPod } from './podParts.ts';

const IDENTITY = 'identity';
/** The directory of the token for the server, and of the cluster's CA. */
const IDENTITY_DIRECTORY = '/var/run/secrets/traffic-operator';
/** The file with the CA of the server, next to the CA of the API server. */
const SERVER_CA_FILE = 'server-ca.crt';
const TOKEN_SECONDS = 3_600;

/**
 * Replaces the options of the image. An agent works for some milliseconds in each interval: compiled code would save less
 * than the compilers take. Ten peers at 30 s took 76 MiB without --jitless, and 65 MiB with it. --expose-gc lets an agent return
 * memory after each run (MemoryRelease).
 */
const NODE_OPTIONS = '--jitless --max-semi-space-size=1 --expose-gc';

/** The agents use no API. */
export function agentAccount({ agentsNamespace }: ConnectivityOptions): V1ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: AGENT_NAME, namespace: agentsNamespace, labels: appLabel(AGENT_NAME) },
    automountServiceAccountToken: false,
  };
}

/**
 * The CA of the server, for the agents: their namespace has no Secret of the server, and needs none.
 *
 * @param ca certificates in PEM
 */
export function serverCa({ agentsNamespace }: ConnectivityOptions, ca: string): V1ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: SERVER_CA_NAME, namespace: agentsNamespace, labels: appLabel(AGENT_NAME) },
    data: { [SERVER_CA_KEY]: ca },
  };
}

/** The two DaemonSets: agents in the network of the pods, and agents in the network of the nodes. */
export function agentDaemonSets(options: ConnectivityOptions): V1DaemonSet[] {
  return [daemonSet(AGENT_NAME, 'Pod', options), daemonSet(HOST_AGENT_NAME, 'Host', options)];
}

/** Headless Services. Nobody calls them; they exist for their EndpointSlices, from which Prometheus' targets are read. */
export function agentServices(options: ConnectivityOptions): V1Service[] {
  return [AGENT_NAME, HOST_AGENT_NAME].map((name) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: options.agentsNamespace, labels: appLabel(name) },
    spec: {
      clusterIP: 'None',
      selector: appLabel(name),
      ports: [{ name: PEER_PORT_NAME, port: options.peerPort, targetPort: PEER_PORT_NAME, protocol: 'TCP' }],
    },
  }));
}

/** A pod in the network of its node needs this policy, or it does not ask the DNS of the cluster. */
const HOST_NETWORK = { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' };

function daemonSet(name: string, plane: Plane, options: ConnectivityOptions): V1DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: options.agentsNamespace, labels: appLabel(name) },
    spec: {
      selector: { matchLabels: appLabel(name) },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: { metadata: { labels: appLabel(name) }, spec: podSpec(plane, options) },
    },
  };
}

function podSpec(plane: Plane, options: ConnectivityOptions): V1PodSpec {
  return {
    ...(plane === 'Host' ? HOST_NETWORK : {}),
    serviceAccountName: AGENT_NAME,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector: { 'kubernetes.io/os': 'linux', ...options.nodeSelector },
    affinity: realNodes(),
    tolerations: [{ operator: 'Exists' }],
    ...priorityOf(options.agents),
    ...pullSecrets(options),
    securityContext: restrictedPod(options),
    containers: [container(plane, options)],
    volumes: [identity(options)],
  };
}

function container(plane: Plane, options: ConnectivityOptions): V1Container {
  const { image, imagePullPolicy, peerPort, agents } = options;
  return {
    name: 'agent',
    image,
    imagePullPolicy,
    args: agentArgs(plane, options),
    env: [...ownNames(), { name: 'NODE_OPTIONS', value: NODE_OPTIONS }],
    ports: [
      { name: PEER_PORT_NAME, containerPort: peerPort, protocol: 'TCP' },
      { name: `${PEER_PORT_NAME}-udp`, containerPort: peerPort, protocol: 'UDP' },
    ],
    // No liveness probe: a restart of the agent repairs no network.
    readinessProbe: { httpGet: { path: '/ping', port: PEER_PORT_NAME }, timeoutSeconds: 3, periodSeconds: 10 },
    resources: agents.resources,
    securityContext: RESTRICTED_CONTAINER,
    volumeMounts: [{ name: IDENTITY, mountPath: IDENTITY_DIRECTORY, readOnly: true }],
  };
}

/** The arguments of an agent. Flags of the original have one dash, flags of this program have two. */
function agentArgs(plane: Plane, options: ConnectivityOptions): string[] {
  return [
    'connectivity-agent',
    `-serverendpoint=${serverAddress(options.namespace)}`,
    `-reportinterval=${options.reportIntervalSeconds}`,
    `--peer-port=${options.peerPort}`,
    `--plane=${plane}`,
    `--token-file=${IDENTITY_DIRECTORY}/token`,
    `--api-ca-file=${IDENTITY_DIRECTORY}/ca.crt`,
    ...options.allowedTargets.map((range) => `--allow-target-cidr=${range}`),
    ...(options.tlsSecretName === '' ? [] : [`--server-ca-file=${IDENTITY_DIRECTORY}/${SERVER_CA_FILE}`]),
  ];
}

/** A token that only the server accepts. It is no right to use the API, so the account's own token stays out. */
function identity({ tlsSecretName }: ConnectivityOptions): V1Volume {
  const token = { audience: TOKEN_AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: 'token' };
  const ca = { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] };
  const serverCa = { name: SERVER_CA_NAME, items: [{ key: SERVER_CA_KEY, path: SERVER_CA_FILE }] };
  const trusted = tlsSecretName === '' ? [ca] : [ca, serverCa];
  const sources = [{ serviceAccountToken: token }, ...trusted.map((configMap) => ({ configMap }))];
  return { name: IDENTITY, projected: { sources } };
}
