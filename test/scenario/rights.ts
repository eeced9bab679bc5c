import { parseAllDocuments } from 'yaml';
import { readAudit } from './audit.ts';
import { NAMESPACE, RELEASE } from './install.ts';
import { getObject, inCluster } from './kubectl.ts';

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** What rules allow, each as `verb resource.group/subresource`; rules for non-resource URLs are left out. */
function rightsOf(rules: readonly Rule[]): Set<string> {
  const rights = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${fullName(group, resource)}`)),
    ),
  );
  return new Set(rights);
}

/** `deployments/status` of `apps` is `deployments.apps/status`. */
function fullName(group: string, resource: string): string {
  const [plural = '', subresource] = resource.split('/');
  const full = group === '' ? plural : `${plural}.${group}`;
  return subresource === undefined ? full : `${full}/${subresource}`;
}

/** What the operator may do now. */
export async function operatorRights(): Promise<Set<string>> {
  const clusterRole = await getObject<{ rules: Rule[] }>('clusterrole', `${NAMESPACE}-${RELEASE}`);
  const role = await getObject<{ rules: Rule[] }>('role', RELEASE, '-n', NAMESPACE);
  return rightsOf([...clusterRole.rules, ...role.rules]);
}

/** What the clean-up will be allowed when the release is uninstalled; its roles are there for as long as it runs. */
export async function cleanupRights(): Promise<Set<string>> {
  const text = await inCluster('helm', ['get', 'hooks', RELEASE, '--namespace', NAMESPACE]);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as { rules?: Rule[] } | null);
  return rightsOf(objects.flatMap((object) => object?.rules ?? []));
}

/** What a user asked the API server for, as its audit log has it. */
export interface RightsUsed {
  readonly used: Set<string>;
  /** Answered with 403. */
  readonly refused: ReadonlySet<string>;
}

/**
 * The rights that the requests of a ServiceAccount of the release needed since a time; a server-side apply that made
 * its object needed `create`, too.
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
 * To the claim of Prometheus, which is made only where it is asked for: the lab has nothing that makes volumes. The
 * tests of the chart use these rights.
 */
const TO_CLAIM = ' persistentvolumeclaims';

/**
 * Rights that were granted and not used, sorted, but for those to the claim of Prometheus. A server that sends a whole list through the watch, as Kubernetes does
 * from 1.34 on, is not asked for the list, which older ones are.
 */
export function unusedRights(granted: ReadonlySet<string>, used: ReadonlySet<string>): string[] {
  const mayBeUsed = (right: string): boolean => used.has(right) || used.has(right.replace(/^list /, 'watch '));
  return [...granted].filter((right) => !mayBeUsed(right) && !right.endsWith(TO_CLAIM)).sort();
}
