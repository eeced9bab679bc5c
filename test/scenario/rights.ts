import { readAudit } from './audit.ts';

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

/** What rules allow, each as `verb resource.group/subresource`; rules for non-resource URLs are left out. */
export function rightsOf(rules: readonly Rule[]): Set<string> {
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

/** What a user asked the API server for, as its audit log has it. */
export interface RightsUsed {
  readonly used: ReadonlySet<string>;
  /** Answered with 403. */
  readonly refused: ReadonlySet<string>;
}

/** The rights that a user's requests needed; a server-side apply that made its object needed `create`, too. */
export function rightsUsed(user: string): RightsUsed {
  const used = new Set<string>();
  const refused = new Set<string>();
  for (const { user: by, verb, objectRef, responseStatus } of readAudit()) {
    if (by.username !== user || objectRef?.resource === undefined) continue;
    const { apiGroup = '', resource, subresource } = objectRef;
    const name = fullName(apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`);
    const verbs = verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
    for (const each of verbs) (responseStatus?.code === 403 ? refused : used).add(`${each} ${name}`);
  }
  return { used, refused };
}

/**
 * Rights that were granted and not used, sorted. A server that sends a whole list through the watch, as Kubernetes does
 * from 1.34 on, is not asked for the list, which older ones are.
 */
export function unusedRights(granted: ReadonlySet<string>, used: ReadonlySet<string>): string[] {
  const mayBeUsed = (right: string): boolean => used.has(right) || used.has(right.replace(/^list /, 'watch '));
  return [...granted].filter((right) => !mayBeUsed(right)).sort();
}
