import type { Resource } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, SERVICES, STATEFULSETS } from '../../../runtime/client/resources.ts';

/** The kinds of which a stack has objects. */
export const RESOURCES: readonly Resource[] = [DEPLOYMENTS, STATEFULSETS, DAEMONSETS, SERVICES];

/** @throws Error for a kind of which no stack has objects */
export function resourceOfKind(kind: string): Resource {
  const resource = RESOURCES.find((each) => each.kind === kind);
  if (resource === undefined) throw new Error(`no stack has objects of the kind ${kind}`);
  return resource;
}
