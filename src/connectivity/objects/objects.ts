import type { V1Namespace } from '@kubernetes/client-node';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { agentAccount, agentDaemonSets } from './agents.ts';
import type { ConnectivityOptions } from './names.ts';
import { serverClusterRole, serverClusterRoleBinding, serverRole, serverRoleBinding } from './rights.ts';
import { serverAccount, serverDeployment, serverService } from './server.ts';

/** Every object of the connectivity check but its CRD, in the order in which they are needed. */
export function connectivityObjects(options: ConnectivityOptions): KubeObject[] {
  return [
    namespace(options),
    serverAccount(options),
    agentAccount(options),
    serverClusterRole(options),
    serverClusterRoleBinding(options),
    serverRole(options),
    serverRoleBinding(options),
    serverService(options),
    serverDeployment(options),
    ...agentDaemonSets(options),
  ];
}

/** Privileged: agents in the network of the nodes are not allowed otherwise. Nothing else of a node is used. */
function namespace({ namespace: name }: ConnectivityOptions): V1Namespace {
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
