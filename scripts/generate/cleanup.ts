import type { V1Job } from '@kubernetes/client-node';
import type { Manifest } from '../chart/helm.ts';

/** Namespace of the clean-up of deploy/cleanup. */
const NAMESPACE = 'traffic-operator-cleanup';
const ACCOUNT = 'traffic-operator-cleanup';

/**
 * The clean-up in its own namespace, so that it can be applied after the operator's namespace was deleted, and deleted
 * while the operator runs. The chart gives it a Role in the operator's namespace, which cannot be created after the
 * namespace was deleted: here the ClusterRole contains these rules.
 *
 * @param hooks the objects of the clean-up as the chart renders them
 */
export function standaloneCleanup(hooks: readonly Manifest[]): Manifest[] {
  const rules = hooks.filter(({ kind }) => kind === 'Role').flatMap((role) => role.rules as Rule[]);
  const kept = hooks.filter(({ kind }) => kind !== 'Role' && kind !== 'RoleBinding');
  return kept.map((object) => {
    if (object.kind === 'ClusterRole')
      return { ...object, rules: [...(object.rules as Rule[]), ...rules.filter((rule) => !isForHelm(rule))] };
    if (object.kind === 'ClusterRoleBinding') return withSubjects(object);
    return withoutHelmFlags({ ...object, metadata: { ...object.metadata, namespace: NAMESPACE } });
  });
}

interface Rule {
  readonly resources?: readonly string[];
}

/** Who applies deploy/cleanup wants it: it looks for no release of helm, and not for its own Job. */
function isForHelm({ resources = [] }: Rule): boolean {
  return resources.includes('jobs');
}

function withoutHelmFlags(object: Manifest): Manifest {
  if (object.kind !== 'Job') return object;
  const job = structuredClone(object) as Manifest & V1Job;
  for (const container of job.spec?.template.spec?.containers ?? []) {
    container.args = container.args?.filter((arg) => !/^--(helm-release|job)=/.test(arg));
  }
  return job;
}

/**
 * Replaces the account of the clean-up in an object that names it in the operator's namespace, such as the node policy.
 */
export function naming(object: Manifest, operatorNamespace: string): Manifest {
  const account = (namespace: string): string => `system:serviceaccount:${namespace}:${ACCOUNT}`;
  const text = JSON.stringify(object).replaceAll(account(operatorNamespace), account(NAMESPACE));
  return JSON.parse(text) as Manifest;
}

/** Its namespace, with the same Pod Security level as the operator's. */
export function cleanupNamespace(labels: Record<string, string>): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } };
}

function withSubjects(binding: Manifest): Manifest {
  const subjects = (binding.subjects as object[]).map((subject) => ({ ...subject, namespace: NAMESPACE }));
  return { ...binding, subjects };
}
