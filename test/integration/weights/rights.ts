import type { V1ClusterRole, V1ClusterRoleBinding } from '@kubernetes/client-node';
import { CONTROLLERS } from '../../../src/controllers/registry.ts';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import type { Fixture } from '../../harness/fixture.ts';

const NAMESPACE = 'traffic-operator-system';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
const CLUSTER_ROLES: Resource<V1ClusterRole> = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource<V1ClusterRoleBinding> = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
const EVENTS = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] };

/** The rights of weights.enabled, as the operator's metrics name them: `patch trafficweights.traffic.example.com/status`. */
export function optionalRights(): string[] {
  const rules = CONTROLLERS.flatMap((each) => each.rights(NAMESPACE).onlyWith?.cluster ?? []);
  return rules.flatMap(({ apiGroups: [group = ''] = [], resources = [], verbs }) =>
    resources.flatMap((resource) => {
      const [plural, subresource] = resource.split('/');
      const name = [group === '' ? plural : `${plural}.${group}`, subresource].filter(Boolean).join('/');
      return verbs.map((verb) => `${verb} ${name}`);
    }),
  );
}

/** The kubeconfig of a user with exactly the rights that the chart gives with weights.enabled. */
export async function userWithRights({ client, controlPlane }: Fixture, name: string): Promise<string> {
  const rules = CONTROLLERS.map((each) => each.rights(NAMESPACE)).flatMap(({ controller, onlyWith }) => [
    ...controller.cluster,
    ...controller.own,
    ...(onlyWith?.cluster ?? []),
  ]);
  await client.create(CLUSTER_ROLES, { metadata: { name }, rules: [...rules.map(withoutReason), EVENTS] });
  const roleRef = { apiGroup: RBAC.group, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: RBAC.group, kind: 'User', name }];
  await client.create(BINDINGS, { metadata: { name }, roleRef, subjects });
  return controlPlane.user(name);
}

/** Logs the requests of one user, of kind Policy (audit.k8s.io/v1). */
export function auditPolicyOf(user: string): object {
  return {
    ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] },
    rules: [{ level: 'Metadata', users: [user] }, { level: 'None' }],
  };
}

function withoutReason<T extends object>(rule: T): T {
  return { ...rule, why: undefined };
}
