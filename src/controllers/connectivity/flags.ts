import { SERVICE_TYPES } from '../../api/trafficstack/terms.ts';
import {
  defaultConnectivityOptions,
  NODE_PORT,
  type ConnectivityOptions,
  type PullPolicy,
} from '../../connectivity/objects/names.ts';
import { cidr } from '../../options/connectivityValues.ts';
import {
  firstProblem,
  flag,
  list,
  withDefault,
  type FlagCheck,
  type FlagProblem,
  type FlagTable,
  type FlagValues,
} from '../../options/flagTable.ts';
import { nodeLabel, resources, tolerations } from '../../options/kubernetesValues.ts';
import { boolean, dnsSubdomain, image, port, valueType, wholeSeconds } from '../../options/values.ts';
import type { SharedFlags } from '../contract/flags.ts';

const DEFAULTS = defaultConnectivityOptions('');
const serviceType = valueType('type', `one of ${SERVICE_TYPES.join(', ')}`, (text) =>
  SERVICE_TYPES.find((type) => type === text),
);

const PULL_POLICIES: readonly PullPolicy[] = ['Always', 'IfNotPresent', 'Never'];
const pullPolicy = valueType('policy', `one of ${PULL_POLICIES.join(', ')}`, (text) =>
  PULL_POLICIES.find((policy) => policy === text),
);

/** The flags for the deployed connectivity check. */
export const CONNECTIVITY_FLAGS = {
  connectivityImage: flag(
    image,
    'Image of the server and the agents of the connectivity check: the image of the operator. Required with --connectivity.',
  ),
  connectivityImagePullPolicy: withDefault(
    pullPolicy,
    DEFAULTS.imagePullPolicy,
    `When that image is pulled: ${PULL_POLICIES.join(', ')}.`,
  ),
  connectivityServerResources: flag(
    resources,
    'Requests and limits of the connectivity server. They replace the whole default.',
    { defaultNote: JSON.stringify(DEFAULTS.server.resources) },
  ),
  connectivityServerNodeSelector: list(nodeLabel, 'Label that a node needs to run the connectivity server.'),
  connectivityServerTolerations: flag(tolerations, 'Tolerations of the connectivity server.', { defaultNote: 'none' }),
  connectivityServerPriorityClass: flag(dnsSubdomain, 'PriorityClass of the connectivity server.', {
    defaultNote: 'none',
  }),
  connectivityAgentResources: flag(
    resources,
    'Requests and limits of each agent of the connectivity check. They replace the whole default.',
    { defaultNote: JSON.stringify(DEFAULTS.agents.resources) },
  ),
  connectivityAgentPriorityClass: flag(
    dnsSubdomain,
    'PriorityClass of the agents of the connectivity check, such as system-node-critical.',
    { defaultNote: 'none' },
  ),
  connectivityReportInterval: withDefault(
    wholeSeconds('2s', '24h'),
    `${DEFAULTS.reportIntervalSeconds}s`,
    'Time between two reports of an agent until a ConnectivityCheck sets it.',
  ),
  connectivityServiceType: withDefault(
    serviceType,
    DEFAULTS.serviceType,
    `Type of the Service of the connectivity server: ClusterIP, or NodePort for TCP port ${NODE_PORT} of every node.`,
  ),
  connectivityNodeSelector: list(nodeLabel, 'Label that a node needs to run agents of the connectivity check.'),
  connectivityPeerPort: withDefault(
    port,
    String(DEFAULTS.peerPort),
    'TCP and UDP port on which the agents answer each other. It must be free on every node.',
  ),
  connectivityAllowAnonymous: withDefault(
    boolean,
    String(DEFAULTS.allowAnonymous),
    'Accept reports without a token, such as original agents send.',
  ),
  connectivityAllowTargetCidr: list(
    cidr,
    'Addresses that URLs of ConnectivityChecks may lead to, although agents refuse them by default: see --allow-target-cidr of connectivity-agent.',
  ),
} as const satisfies FlagTable;

type ConnectivityFlags = FlagValues<typeof CONNECTIVITY_FLAGS>;

/** The longest namespace of the operator. A namespace has at most 63 characters, and the agents' adds a suffix to it. */
const LONGEST_NAMESPACE = 63 - '-connectivity'.length;

type Flags = SharedFlags & ConnectivityFlags;

/** The first invalid combination of flags, or undefined. */
export function connectivityFlagProblem(flags: Flags): FlagProblem<keyof Flags> | undefined {
  return firstProblem(CHECKS, flags);
}

const CHECKS: readonly FlagCheck<Flags>[] = [
  ({ connectivity, connectivityImage }) =>
    connectivity && connectivityImage === undefined
      ? { key: 'connectivity', message: 'needs --connectivity-image, the image that the operator runs' }
      : undefined,
  ({ connectivity, namespace }) =>
    connectivity && namespace.length > LONGEST_NAMESPACE
      ? { key: 'namespace', message: `must have ${LONGEST_NAMESPACE} characters at most, for <namespace>-connectivity` }
      : undefined,
];

/** How the controller deploys the connectivity check. */
export interface DeploymentOptions extends ConnectivityOptions {
  /** False: nothing of it is deployed, and it is removed if it exists. */
  readonly enabled: boolean;
  /** Whether the operator creates the TrafficStack `default`. Default: true. */
  readonly hasDefaultStack?: boolean;
  /** File with the CA of the server, PEM. Given with tlsSecretName. */
  readonly serverCaFile?: string | undefined;
}

/** Converts the flags to options. */
export function deploymentOptions(flags: Flags): DeploymentOptions {
  const { server, agents, ...rest } = defaultConnectivityOptions(flags.namespace);
  return {
    ...rest,
    ...{ enabled: flags.connectivity, hasDefaultStack: flags.defaultStack },
    image: flags.connectivityImage ?? '',
    imagePullPolicy: flags.connectivityImagePullPolicy,
    imagePullSecrets: flags.imagePullSecret,
    openshift: flags.openshift,
    server: {
      resources: flags.connectivityServerResources ?? server.resources,
      priorityClassName: flags.connectivityServerPriorityClass ?? server.priorityClassName,
      nodeSelector: Object.fromEntries(flags.connectivityServerNodeSelector),
      tolerations: flags.connectivityServerTolerations ?? server.tolerations,
    },
    agents: {
      resources: flags.connectivityAgentResources ?? agents.resources,
      priorityClassName: flags.connectivityAgentPriorityClass ?? agents.priorityClassName,
    },
    reportIntervalSeconds: flags.connectivityReportInterval / 1000,
    serviceType: flags.connectivityServiceType,
    nodeSelector: Object.fromEntries(flags.connectivityNodeSelector),
    peerPort: flags.connectivityPeerPort,
    tlsSecretName: flags.connectivityTlsSecret ?? '',
    serverCaFile: flags.connectivityServerCaFile,
    allowAnonymous: flags.connectivityAllowAnonymous,
    allowedTargets: flags.connectivityAllowTargetCidr.map(({ text }) => text),
  };
}
