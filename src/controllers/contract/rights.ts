import type { V1PolicyRule } from '@kubernetes/client-node';

/** An RBAC rule, with a reason if the need is not obvious. */
export interface Rule extends V1PolicyRule {
  readonly why?: string;
}

/** RBAC rules for the whole cluster and for the operator's namespace. */
export interface Rights {
  /** For a ClusterRole. */
  readonly cluster: readonly Rule[];
  /** For a Role in the operator's own namespace. */
  readonly own: readonly Rule[];
}

/** Rights that a controller uses only where users have switched it on. */
export interface OptionalRights extends Rights {
  /** The process that has them: `weights` is the command `trafficweights`. Default: the manager. */
  readonly process?: 'weights';
  /** The values of the chart that must all be true: `<value>.enabled`. */
  readonly values: readonly string[];
  /** For a ClusterRole that is bound in the namespaces that `<value>.namespaces` lists, or in the whole cluster. */
  readonly namespaces?: readonly Rule[];
}

/** Exactly the rights that a controller uses while it runs, and that its clean-up uses. */
export interface ControllerRights {
  readonly controller: Rights;
  readonly cleanup: Rights;
  readonly onlyWith?: readonly OptionalRights[];
}

export const NO_RIGHTS: Rights = { cluster: [], own: [] };

/** Creates a rule for resources of one API group. `names` limits it to objects of these names. */
export function rule(
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  names?: readonly string[],
): Rule {
  return {
    apiGroups: [group],
    resources: [...resources],
    verbs: [...verbs],
    ...(names === undefined ? {} : { resourceNames: [...names] }),
  };
}

/**
 * To keep objects as they should be, limited to their names. `create` by resource name works only with server-side apply,
 * whose request has the name in its path. `list` and `watch` by resource name work if the request has metadata.name as its
 * field selector.
 */
export const KEEP_VERBS = ['list', 'watch', 'create', 'patch', 'delete'];
/** The same for the objects of a TrafficStack, which are also read one by one: before they are created, and when a cache may be late. */
export const STACK_VERBS = ['get', ...KEEP_VERBS];
/** To remove objects, limited to their names. */
export const REMOVE_VERBS = ['get', 'delete'];
