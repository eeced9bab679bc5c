import { WORKLOAD_KINDS } from '../../../api/trafficstack/terms.ts';
import { TRAFFIC_WEIGHTS } from '../../../api/trafficweight/trafficWeight.ts';
import type { Resource } from '../../../runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  CONTROLLER_REVISIONS,
  DAEMONSETS,
  DEPLOYMENTS,
  POD_DISRUPTION_BUDGETS,
  PROMETHEUS_RULES,
  SERVICE_ACCOUNTS,
  SERVICES,
  STATEFULSETS,
} from '../../../runtime/client/resources.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';

/** The kinds of objects in stacks. */
export const RESOURCES: readonly Resource[] = [
  ...[DEPLOYMENTS, STATEFULSETS, DAEMONSETS],
  ...[SERVICES, CONFIG_MAPS, POD_DISRUPTION_BUDGETS, CONTROLLER_REVISIONS, SERVICE_ACCOUNTS],
  ...[TRAFFIC_WEIGHTS, PROMETHEUS_RULES],
];

/** Returns the kinds that this process may read: TrafficWeights only with DNS weights. */
export function readableResources(builtIns: readonly Pick<BuiltIn, 'type' | 'problem'>[]): readonly Resource[] {
  const hasWeights = builtIns.some(({ type, problem }) => type === 'Weights' && problem === undefined);
  return RESOURCES.filter(({ kind }) => hasWeights || kind !== TRAFFIC_WEIGHTS.kind);
}

/** Returns whether a stack may have objects of this kind. */
export function isKind(kind: string | undefined): boolean {
  return RESOURCES.some((each) => each.kind === kind);
}

/** Returns whether objects of a kind run pods. */
export function isWorkload({ kind }: Pick<Resource, 'kind'>): boolean {
  return (WORKLOAD_KINDS as readonly string[]).includes(kind);
}

/** Kinds with a status that decides about readiness. */
const KINDS_WITH_READINESS: readonly string[] = [...WORKLOAD_KINDS, TRAFFIC_WEIGHTS.kind];

/** Returns the objects that run pods, and TrafficWeights. Only a built-in component may have several or none. */
export function workloadsOf<T extends { readonly resource: Pick<Resource, 'kind'> }>(objects: readonly T[]): T[] {
  return objects.filter(({ resource }) => hasReadiness(resource));
}

/** Returns whether objects of a kind have a status that decides about readiness, whatever their component. */
export function hasReadiness({ kind }: Pick<Resource, 'kind'>): boolean {
  return KINDS_WITH_READINESS.includes(kind);
}

/** @throws Error for a kind of which no stack has objects */
export function resourceOfKind(kind: string): Resource {
  const resource = RESOURCES.find((each) => each.kind === kind);
  if (resource === undefined) throw new Error(`no stack has objects of the kind ${kind}`);
  return resource;
}
