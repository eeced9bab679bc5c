import type { V1ClusterRole, V1ClusterRoleBinding, V1PolicyRule, V1Role, V1RoleBinding } from '@kubernetes/client-node';
import { expect, vi } from 'vitest';
import type { Client } from '../../src/runtime/client/client.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { NAMESPACES } from '../../src/runtime/client/resources.ts';
import type { Fixture } from '../harness/fixture.ts';

interface Review extends KubeObject {
  spec: { user: string; resourceAttributes: object };
  status?: { allowed: boolean };
}

const REVIEWS: Resource<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/**
 * Resolves once the API server lets a user do what a rule says, or no longer: it learns of RBAC objects by watches of its
 * own, a little after they were written.
 *
 * @param namespace where a Role gives it; without one, in all of them
 */
export async function whenAllowed(
  client: Client,
  user: string,
  { verbs, apiGroups, resources, resourceNames }: V1PolicyRule,
  options: { namespace?: string; allowed?: boolean } = {},
): Promise<void> {
  const [resource, subresource] = (resources?.[0] ?? '').split('/');
  const what = { verb: verbs[0], group: apiGroups?.[0], resource, subresource, name: resourceNames?.[0] };
  const spec = { user, resourceAttributes: { ...what, namespace: options.namespace } };
  await vi.waitFor(
    async () => {
      const { status } = await client.create(REVIEWS, { metadata: {}, spec });
      expect(status?.allowed).toBe(options.allowed ?? true);
    },
    { timeout: 90_000, interval: 20 },
  );
}

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
export const CLUSTER_ROLES: Resource<V1ClusterRole> = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource<V1ClusterRoleBinding> = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
const EVENTS: V1PolicyRule = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] };

/**
 * The kubeconfig of a user with these rights and the right to events, which the API server knows already.
 *
 * @param rules the rules of a controller, with their reasons or without
 */
export function userWith(
  where: Pick<Fixture, 'client' | 'controlPlane'>,
  name: string,
  rules: readonly V1PolicyRule[],
): Promise<string> {
  return userWithOnly(where, name, [...rules, EVENTS]);
}

/** The same without any right besides these. */
export async function userWithOnly(
  { client, controlPlane }: Pick<Fixture, 'client' | 'controlPlane'>,
  name: string,
  rules: readonly V1PolicyRule[],
): Promise<string> {
  const granted = rules.map((rule) => ({ ...rule, why: undefined }));
  await client.create(CLUSTER_ROLES, { metadata: { name }, rules: granted });
  const roleRef = { apiGroup: RBAC.group, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: RBAC.group, kind: 'User', name }];
  await client.create(BINDINGS, { metadata: { name }, roleRef, subjects });
  await whenAllowed(client, name, granted.at(-1)!);
  return controlPlane.user(name);
}

const ROLES: Resource<V1Role> = { ...RBAC, kind: 'Role', plural: 'roles', namespaced: true };
const ROLE_BINDINGS: Resource<V1RoleBinding> = {
  ...RBAC,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
};

/** Gives a user further rights in one namespace, which is made if it does not exist. */
export async function allowIn(
  client: Client,
  user: string,
  namespace: string,
  rules: readonly V1PolicyRule[],
): Promise<void> {
  const granted = rules.map((rule) => ({ ...rule, why: undefined }));
  const metadata = { namespace, name: user };
  await client.create(NAMESPACES, { metadata: { name: namespace } }).catch(() => undefined);
  await client.create(ROLES, { metadata, rules: granted });
  const roleRef = { apiGroup: RBAC.group, kind: 'Role', name: user };
  const subjects = [{ apiGroup: RBAC.group, kind: 'User', name: user }];
  await client.create(ROLE_BINDINGS, { metadata, roleRef, subjects });
  await whenAllowed(client, user, granted.at(-1)!, { namespace });
}
