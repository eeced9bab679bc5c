import type { V1ResourceRequirements, V1Toleration } from '@kubernetes/client-node';

/** Names of the original, by which its users, dashboards and scripts find the objects. */
export const SERVICE_NAME = 'netchecker-service';
export const SERVER_NAME = 'netchecker-server';
export const AGENT_NAME = 'netchecker-agent';
export const HOST_AGENT_NAME = 'netchecker-agent-hostnet';
/** The ConfigMap in the namespace of the agents with the CA of the server, and its key. */
export const SERVER_CA_NAME = 'netchecker-server-ca';
export const SERVER_CA_KEY = 'ca.crt';

/** TCP port of the server. */
export const SERVER_PORT = 8081;
/** Host and port of the server, for clients in every namespace. */
export function serverAddress(namespace: string): string {
  return `${SERVICE_NAME}.${namespace}:${SERVER_PORT}`;
}

/** TCP port on every node if the Service has the type NodePort. */
export const NODE_PORT = 31_081;
/** Name of the agents' TCP port, in their containers, Services and EndpointSlices. */
export const PEER_PORT_NAME = 'peer';
/** TCP and UDP port of the agents by default. */
export const PEER_PORT = 8082;

/** The audience of the agents' tokens: no other program accepts them. */
export const TOKEN_AUDIENCE = 'traffic-operator-connectivity';

/** Resources and priority of a pod. */
export interface PodSize {
  readonly resources: V1ResourceRequirements;
  /** Empty: none. */
  readonly priorityClassName: string;
}

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** How the connectivity check is deployed. */
export interface ConnectivityOptions {
  /** The namespace of the server and the Agent objects. */
  readonly namespace: string;
  /** The namespace of the agents. It may be the namespace of the server. */
  readonly agentsNamespace: string;
  /** The image of this program. */
  readonly image: string;
  readonly imagePullPolicy: PullPolicy;
  /** Pull secrets for the image. Each must be in the namespace of the pods; Kubernetes ignores missing ones. */
  readonly imagePullSecrets: readonly string[];
  /** Whether the cluster assigns the IDs of pods, as OpenShift does. The pods then name none. */
  readonly openshift: boolean;
  /** Where the server runs, in addition to kubernetes.io/os=linux. */
  readonly server: PodSize & {
    readonly nodeSelector: Readonly<Record<string, string>>;
    readonly tolerations: readonly V1Toleration[];
  };
  /** The agents tolerate all taints. */
  readonly agents: PodSize;
  readonly reportIntervalSeconds: number;
  readonly serviceType: 'ClusterIP' | 'NodePort';
  /** Labels of a node that runs agents, in addition to kubernetes.io/os=linux. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** TCP and UDP port on which agents answer each other. It must be free on every node. */
  readonly peerPort: number;
  /**
   * Secret of type kubernetes.io/tls in the namespace of the server, with which it serves HTTPS; empty: plain HTTP. The
   * agents verify it by the CA in the ConfigMap SERVER_CA_NAME.
   */
  readonly tlsSecretName: string;
  /** Whether the server accepts reports without a token, such as original agents send. */
  readonly allowAnonymous: boolean;
  /** CIDRs that URLs of ConnectivityChecks may lead to, although agents refuse them by default. */
  readonly allowedTargets: readonly string[];
}

/** The default options. `image` is empty: the image of this program is not known here. */
export function defaultConnectivityOptions(namespace: string): ConnectivityOptions {
  return {
    namespace,
    agentsNamespace: agentsNamespaceOf(namespace),
    image: '',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [],
    openshift: false,
    server: {
      resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '384Mi' } },
      priorityClassName: '',
      nodeSelector: {},
      tolerations: [],
    },
    agents: {
      resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      priorityClassName: '',
    },
    reportIntervalSeconds: 15,
    serviceType: 'ClusterIP',
    nodeSelector: {},
    peerPort: PEER_PORT,
    tlsSecretName: '',
    allowAnonymous: false,
    allowedTargets: [],
  };
}

/** The namespace of the agents. Separate, because hostNetwork violates even the Pod Security level baseline. */
export function agentsNamespaceOf(namespace: string): string {
  return `${namespace}-connectivity`;
}

/** The label `app`, by which the original finds its pods. */
export function appLabel(name: string): { app: string } {
  return { app: name };
}
