import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1Namespace,
  V1PolicyRule,
  V1Role,
  V1RoleBinding,
} from '@kubernetes/client-node';
import { AGENTS } from '../../api/agent/report.ts';
import { CONNECTIVITY_CHECKS } from '../../api/connectivitycheck/connectivityCheck.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import { agentAccount, agentDaemonSets, agentServices } from './agents.ts';
import { appLabel, SERVER_NAME, type ConnectivityOptions } from './names.ts';
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

const API_GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${API_GROUP}/v1`;
const labels = appLabel(SERVER_NAME);

/**
 * The rights of the server in the whole cluster: watch the pods of agents, which may be in any namespace if agents are of an
 * original deployment; watch the Nodes and ConnectivityChecks that it evaluates; and check the tokens of agents.
 */
export const SERVER_CLUSTER_RULES: readonly V1PolicyRule[] = [
  { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['list', 'watch'] },
  { apiGroups: [CONNECTIVITY_CHECKS.group], resources: [CONNECTIVITY_CHECKS.plural], verbs: ['list', 'watch'] },
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
];

/** The rights to store Agent objects in the server's namespace. An apply needs patch, and create for a new object. */
export const SERVER_RULES: readonly V1PolicyRule[] = [
  { apiGroups: [AGENTS.group], resources: [AGENTS.plural], verbs: ['list', 'create', 'patch', 'delete'] },
];

export function serverClusterRole({ namespace }: ConnectivityOptions): V1ClusterRole {
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterRole',
    metadata: { name: clusterName(namespace), labels },
    rules: [...SERVER_CLUSTER_RULES],
  };
}

function serverClusterRoleBinding({ namespace }: ConnectivityOptions): V1ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterRoleBinding',
    metadata: { name: clusterName(namespace), labels },
    roleRef: { apiGroup: API_GROUP, kind: 'ClusterRole', name: clusterName(namespace) },
    subjects: [{ kind: 'ServiceAccount', name: SERVER_NAME, namespace }],
  };
}

export function serverRole({ namespace }: ConnectivityOptions): V1Role {
  return {
    apiVersion: API_VERSION,
    kind: 'Role',
    metadata: { name: SERVER_NAME, namespace, labels },
    rules: [...SERVER_RULES],
  };
}

function serverRoleBinding({ namespace }: ConnectivityOptions): V1RoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: 'RoleBinding',
    metadata: { name: SERVER_NAME, namespace, labels },
    roleRef: { apiGroup: API_GROUP, kind: 'Role', name: SERVER_NAME },
    subjects: [{ kind: 'ServiceAccount', name: SERVER_NAME, namespace }],
  };
}

/** Returns the name of cluster-scoped objects. It has the namespace, so that two deployments do not share objects. */
function clusterName(namespace: string): string {
  return `${namespace}:${SERVER_NAME}`;
}
