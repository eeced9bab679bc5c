/** Names of the original, by which its users, dashboards and scripts find the objects. */
export const SERVICE_NAME = 'netchecker-service';
export const SERVER_NAME = 'netchecker-server';
export const AGENT_NAME = 'netchecker-agent';
export const HOST_AGENT_NAME = 'netchecker-agent-hostnet';

/** TCP port of the server. */
export const SERVER_PORT = 8081;
/** TCP port on every node if the Service has the type NodePort. */
export const NODE_PORT = 31_081;

/** How the connectivity check is deployed. */
export interface ConnectivityOptions {
  /** The namespace of the server, the agents and the Agent objects. */
  readonly namespace: string;
  /** The image of this program. */
  readonly image: string;
  readonly reportIntervalSeconds: number;
  readonly serviceType: 'ClusterIP' | 'NodePort';
  /** Labels of a node that runs agents, in addition to kubernetes.io/os=linux. */
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** The label `app`, by which the original finds its pods. */
export function appLabel(name: string): { app: string } {
  return { app: name };
}
