import type { V1Namespace } from '@kubernetes/client-node';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { agentAccount, agentDaemonSets, agentServices } from './agents.ts';
import type { ConnectivityOptions } from './names.ts';
import { serverClusterRole, serverClusterRoleBinding, serverRole, serverRoleBinding } from './rights.ts';
import { serverAccount, serverDeployment, serverService } from './server.ts';

/**
 * The objects that the operator creates, in the order in which they are needed. The CRDs and the rights of the server
 * come with the chart: the operator has no right to grant rights.
 */
export function operatedObjects(options: ConnectivityOptions): KubeObject[] {
  return [agentsNamespace(options), ...accountsAndPods(options)];
}

/** Returns all objects of the connectivity check except its CRDs, for a cluster without the operator. */
export function connectivityObjects(options: ConnectivityOptions): KubeObject[] {
  return [
    agentsNamespace(options),
    serverClusterRole(options),
    serverClusterRoleBinding(options),
    serverRole(options),
    serverRoleBinding(options),
    ...accountsAndPods(options),
  ];
}

function accountsAndPods(options: ConnectivityOptions): KubeObject[] {
  return [
    serverAccount(options),
    agentAccount(options),
    serverService(options),
    serverDeployment(options),
    ...agentServices(options),
    ...agentDaemonSets(options),
  ];
}

/** Returns the namespace of the agents. Its level is privileged only because agents use the network of the node. */
function agentsNamespace({ agentsNamespace: name }: ConnectivityOptions): V1Namespace {
  const level = 'privileged';
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        'pod-security.kubernetes.io/enforce': level,
        'pod-security.kubernetes.io/audit': level,
        'pod-security.kubernetes.io/warn': level,
      },
    },
  };
}
