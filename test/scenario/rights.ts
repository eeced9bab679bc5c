import type { V1PolicyRule } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { readAudit } from './audit.ts';
import { NAMESPACE, RELEASE } from './install.ts';
import { getObject, inCluster } from './kubectl.ts';

/** The rights of these rules, each as `verb resource.group/subresource`, without rules for non-resource URLs. */
export function rightsOf(rules: readonly V1PolicyRule[]): Set<string> {
  const rights = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${fullName(group, resource)}`)),
    ),
  );
  return new Set(rights);
}

/** Formats `deployments/status` of `apps` as `deployments.apps/status`. */
function fullName(group: string, resource: string): string {
  const [plural = '', subresource] = resource.split('/');
  const full = group === '' ? plural : `${plural}.${group}`;
  return subresource === undefined ? full : `${full}/${subresource}`;
}

/** The current rules of the operator's roles. */
export async function operatorRules(): Promise<V1PolicyRule[]> {
  const clusterRole = await getObject<{ rules: V1PolicyRule[] }>('clusterrole', `${NAMESPACE}-${RELEASE}`);
  const role = await getObject<{ rules: V1PolicyRule[] }>('role', RELEASE, '-n', NAMESPACE);
  return [...clusterRole.rules, ...role.rules];
}

/** The rights of the clean-up during an uninstall. Its roles exist only while it runs. */
export async function cleanupRights(): Promise<Set<string>> {
  const text = await inCluster('helm', ['get', 'hooks', RELEASE, '--namespace', NAMESPACE]);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as { rules?: V1PolicyRule[] } | null);
  return rightsOf(objects.flatMap((object) => object?.rules ?? []));
}

/** The requests of a user, from the audit log. */
export interface RightsUsed {
  readonly used: Set<string>;
  /** Requests with the response 403. */
  readonly refused: ReadonlySet<string>;
}

/**
 * The rights that the requests of a ServiceAccount of the release have needed since a time. A server-side apply that
 * created its object also needed `create`.
 */
export function rightsUsed(serviceAccount: string, since: Date): RightsUsed {
  const user = `system:serviceaccount:${NAMESPACE}:${serviceAccount}`;
  const used = new Set<string>();
  const refused = new Set<string>();
  for (const { user: by, verb, objectRef, responseStatus } of readAudit(since)) {
    if (by.username !== user || objectRef?.resource === undefined) continue;
    const { apiGroup = '', resource, subresource } = objectRef;
    const name = fullName(apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`);
    const verbs = verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
    for (const each of verbs) (responseStatus?.code === 403 ? refused : used).add(`${each} ${name}`);
  }
  return { used, refused };
}

/**
 * The rights to the PersistentVolumeClaim of Prometheus, which is optional. The lab cannot provision volumes; the tests
 * of the chart use these rights.
 */
const TO_CLAIM = ' persistentvolumeclaims';

/**
 * Rights that were granted and not used, sorted, without those to the claim of Prometheus. `list` counts as used: from
 * Kubernetes 1.34 on, a watch sends the initial list, and only older servers get list requests.
 */
export function unusedRights(granted: ReadonlySet<string>, used: ReadonlySet<string>): string[] {
  const mayBeUsed = (right: string): boolean => used.has(right) || used.has(right.replace(/^list /, 'watch '));
  return [...granted].filter((right) => !mayBeUsed(right) && !right.endsWith(TO_CLAIM)).sort();
}
