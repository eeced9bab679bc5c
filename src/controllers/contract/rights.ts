import type { V1PolicyRule } from '@kubernetes/client-node';

/** A rule of RBAC, and why it is needed where that is not plain to see. */
export interface Rule extends V1PolicyRule {
  readonly why?: string;
}

/** Rights in two places. */
export interface Rights {
  /** For a ClusterRole. */
  readonly cluster: readonly Rule[];
  /** For a Role in the operator's own namespace. */
  readonly own: readonly Rule[];
}

/** The rights of a controller while it runs, and those of its clean-up: all that are used, and no others. */
export interface ControllerRights {
  readonly controller: Rights;
  readonly cleanup: Rights;
}

export const NO_RIGHTS: Rights = { cluster: [], own: [] };

/** One rule: verbs on resources of one API group; `names` limits it to objects of these names. */
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
