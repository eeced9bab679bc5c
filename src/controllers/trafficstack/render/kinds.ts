import { WORKLOAD_KINDS } from '../../../api/trafficstack/terms.ts';
import type { Resource } from '../../../runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DAEMONSETS,
  DEPLOYMENTS,
  POD_DISRUPTION_BUDGETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFULSETS,
} from '../../../runtime/client/resources.ts';

/** The kinds of which a stack has objects. */
export const RESOURCES: readonly Resource[] = [
  ...[DEPLOYMENTS, STATEFULSETS, DAEMONSETS],
  ...[SERVICES, CONFIG_MAPS, POD_DISRUPTION_BUDGETS, CONTROLLER_REVISIONS, SERVICE_ACCOUNTS],
];

/** Whether a stack may have objects of this kind. */
export function isKind(kind: string | undefined): boolean {
  return RESOURCES.some((each) => each.kind === kind);
}

/** The objects that run pods. A component has at least one of them; only a built-in one has several. */
export function workloadsOf<T extends { readonly resource: Pick<Resource, 'kind'> }>(objects: readonly T[]): T[] {
  return objects.filter(({ resource: { kind } }) => WORKLOAD_KINDS.some((each) => each === kind));
}

/** @throws Error for a kind of which no stack has objects */
export function resourceOfKind(kind: string): Resource {
  const resource = RESOURCES.find((each) => each.kind === kind);
  if (resource === undefined) throw new Error(`no stack has objects of the kind ${kind}`);
  return resource;
}
