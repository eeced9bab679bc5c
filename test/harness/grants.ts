import type { V1ClusterRoleBinding, V1PolicyRule } from '@kubernetes/client-node';
import { arrived, type AuditedRequest } from './audit.ts';
import type { ControlPlane } from './controlPlane.ts';
import { kubectl } from './kubectl.ts';

/** One verb on one resource that RBAC grants. */
export interface Grant {
  readonly verb: string;
  readonly group: string;
  /** Plural, with its subresource. */
  readonly resource: string;
  /** From `resourceNames`; undefined for every name. */
  readonly name: string | undefined;
  /** The namespace of the RoleBinding; undefined for every namespace. */
  readonly namespace: string | undefined;
}

/** Rights that a story does not use, or not always. */
export interface Exception {
  /** Matches the text of a grant, see `textOf`. */
  readonly right: RegExp;
  readonly why: string;
  /** The story may use them. Without it, an exception that is no longer needed fails the comparison. */
  readonly byChance?: true;
}

interface Bound {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly V1PolicyRule[] | null;
  readonly roleRef?: V1ClusterRoleBinding['roleRef'];
  readonly subjects?: V1ClusterRoleBinding['subjects'];
}

/** The rights of a ServiceAccount by all its bindings, by their texts. Rules about paths are left out. */
export async function grantsOf(plane: ControlPlane, namespace: string, account: string): Promise<Map<string, Grant>> {
  const kinds = 'clusterrolebindings,rolebindings,clusterroles,roles';
  const { items } = JSON.parse(await kubectl(plane, ['get', kinds, '-A', '-ojson'])) as { items: readonly Bound[] };
  const bindings = items.filter(({ subjects = [] }) =>
    subjects.some((each) => each.kind === 'ServiceAccount' && each.name === account && each.namespace === namespace),
  );
  const grants = bindings.flatMap(({ metadata, roleRef }) => {
    const role = items.find(
      (each) =>
        each.kind === roleRef?.kind &&
        each.metadata.name === roleRef.name &&
        (each.kind === 'ClusterRole' || each.metadata.namespace === metadata.namespace),
    );
    return (role?.rules ?? []).flatMap((rule) => grantsIn(rule, metadata.namespace));
  });
  return new Map(grants.map((grant) => [textOf(grant), grant]));
}

function grantsIn({ apiGroups = [], resources = [], resourceNames = [], verbs }: V1PolicyRule, namespace?: string) {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      names.flatMap((name) => verbs.map((verb): Grant => ({ verb, group, resource, name, namespace }))),
    ),
  );
}

/** For example `patch deployments.apps "prometheus" in traffic-operator-system`. */
function textOf({ verb, group, resource, name, namespace }: Grant): string {
  const [plural = '', subresource] = resource.split('/');
  const kind = [plural, group].filter(Boolean).join('.');
  const full = [kind, subresource].filter(Boolean).join('/');
  return [`${verb} ${full}`, ...(name ? [`"${name}"`] : []), ...(namespace ? [`in ${namespace}`] : [])].join(' ');
}

/**
 * Compares the rights of a user with its requests in the audit log, including names and namespaces. A request uses the narrowest rights that
 * allow it: a right to every object counts as used only if a request needs it besides the rights by name.
 *
 * @returns `unused`: rights without a request and without an exception; `stale`: exceptions whose rights are all used; sorted
 */
export function compareGrants(
  plane: ControlPlane,
  user: string,
  granted: ReadonlyMap<string, Grant>,
  exceptions: readonly Exception[],
): { readonly unused: string[]; readonly stale: string[] } {
  const used = new Set<string>();
  for (const request of arrived(plane)) {
    if (request.user !== user || request.isForbidden) continue;
    for (const verb of verbsOf(request)) narrowest({ ...request, verb }, granted).forEach((text) => used.add(text));
  }
  const unused = [...granted.keys()].filter((text) => !used.has(text)).sort();
  return {
    unused: unused.filter((text) => !exceptions.some(({ right }) => right.test(text))),
    stale: exceptions
      .filter(({ right, byChance }) => byChance === undefined && !unused.some((text) => right.test(text)))
      .map(({ right }) => right.source),
  };
}

/**
 * An apply that made its object also needs `create`. From Kubernetes 1.34 on, a watch sends the initial list, which older servers get a
 * request for.
 */
function verbsOf({ verb, code }: AuditedRequest): readonly string[] {
  if (verb === 'patch' && code === 201) return ['patch', 'create'];
  return verb === 'watch' ? ['watch', 'list'] : [verb];
}

function narrowest(request: AuditedRequest, granted: ReadonlyMap<string, Grant>): readonly string[] {
  const allowing = [...granted].filter(([, grant]) => isAllowedBy(request, grant));
  const widthOf = ({ name, namespace }: Grant): number =>
    Number(name === undefined) * 2 + Number(namespace === undefined);
  const least = Math.min(...allowing.map(([, grant]) => widthOf(grant)));
  return allowing.filter(([, grant]) => widthOf(grant) === least).map(([text]) => text);
}

function isAllowedBy(request: AuditedRequest, grant: Grant): boolean {
  return (
    (['verb', 'group', 'resource'] as const).every((field) => request[field] === grant[field]) &&
    (grant.name ?? request.name) === request.name &&
    (grant.namespace ?? request.namespace) === request.namespace
  );
}
