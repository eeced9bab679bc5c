import type { V1ClusterRole, V1ClusterRoleBinding, V1Role, V1RoleBinding } from '@kubernetes/client-node';
import { AGENTS } from '../../api/agent/schema.ts';
import { appLabel, SERVER_NAME, type ConnectivityOptions } from './names.ts';

const API_GROUP = 'rbac.authorization.k8s.io';
const API_VERSION = `${API_GROUP}/v1`;
const labels = appLabel(SERVER_NAME);

/**
 * What the server reads in all namespaces: the pods of agents, which also those of an original deployment are. It has the
 * tokens of agents verified, which changes nothing.
 */
export function serverClusterRole({ namespace }: ConnectivityOptions): V1ClusterRole {
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterRole',
    metadata: { name: clusterName(namespace), labels },
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    ],
  };
}

export function serverClusterRoleBinding({ namespace }: ConnectivityOptions): V1ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterRoleBinding',
    metadata: { name: clusterName(namespace), labels },
    roleRef: { apiGroup: API_GROUP, kind: 'ClusterRole', name: clusterName(namespace) },
    subjects: [{ kind: 'ServiceAccount', name: SERVER_NAME, namespace }],
  };
}

/** What the server stores. An apply needs patch, and create for an object that is not there. */
export function serverRole({ namespace }: ConnectivityOptions): V1Role {
  const verbs = ['list', 'create', 'patch', 'delete'];
  return {
    apiVersion: API_VERSION,
    kind: 'Role',
    metadata: { name: SERVER_NAME, namespace, labels },
    rules: [{ apiGroups: [AGENTS.group], resources: [AGENTS.plural], verbs }],
  };
}

export function serverRoleBinding({ namespace }: ConnectivityOptions): V1RoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: 'RoleBinding',
    metadata: { name: SERVER_NAME, namespace, labels },
    roleRef: { apiGroup: API_GROUP, kind: 'Role', name: SERVER_NAME },
    subjects: [{ kind: 'ServiceAccount', name: SERVER_NAME, namespace }],
  };
}

/** Cluster-scoped names have the namespace, so that two deployments do not share them. */
function clusterName(namespace: string): string {
  return `${namespace}:${SERVER_NAME}`;
}
