import type { V1ClusterRole, V1ClusterRoleBinding, V1PolicyRule } from '@kubernetes/client-node';
import type { Client } from '../../src/runtime/client/client.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
const CLUSTER_ROLES: Resource<V1ClusterRole> = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource<V1ClusterRoleBinding> = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };

const everythingIn = (...apiGroups: string[]): V1PolicyRule => ({ apiGroups, resources: ['*'], verbs: ['*'] });
/** All that the operator does in a cluster whose Prometheus is not its own, but for the lease. */
const ALL_BUT_LEASES = everythingIn('', 'apps', 'discovery.k8s.io', 'events.k8s.io', 'traffic.example.com');
const LEASES_ONLY = everythingIn('coordination.k8s.io');

/** Whom a role is given to. */
export type Subject = { kind: 'User'; name: string } | { kind: 'ServiceAccount'; namespace: string; name: string };

/** Lets a subject do all that an operator does; the right to its leases is one of its own, which can be taken away. */
export async function grantOperator(client: Client, subject: Subject): Promise<void> {
  await grant(client, `${subject.name}-all-but-leases`, [ALL_BUT_LEASES], subject);
  await grantLeases(client, subject);
}

/** Gives the right to leases, and again after it was taken away. */
export async function grantLeases(client: Client, subject: Subject): Promise<void> {
  await grant(client, `${subject.name}-leases`, [LEASES_ONLY], subject);
}

/** Takes the right to leases away. */
export async function revokeLeases(client: Client, subject: Subject): Promise<void> {
  await client.delete(BINDINGS, { name: `${subject.name}-leases` });
  await client.delete(CLUSTER_ROLES, { name: `${subject.name}-leases` });
}

async function grant(client: Client, name: string, rules: V1PolicyRule[], subject: Subject): Promise<void> {
  const apiGroup = subject.kind === 'User' ? RBAC.group : '';
  const roleRef = { apiGroup: RBAC.group, kind: 'ClusterRole', name };
  await client.create(CLUSTER_ROLES, { metadata: { name }, rules });
  await client.create(BINDINGS, { metadata: { name }, roleRef, subjects: [{ apiGroup, ...subject }] });
}
