import { keyOf } from '../client/resource.ts';
import type { KubeObject, ObjectRef, Resource } from '../client/resource.ts';

/** One object of a set. */
export interface Member<G extends string = string, T extends KubeObject = KubeObject> {
  /** The group is switched on and off as a whole. Members without one are a group too, which is switched off with all. */
  readonly group?: G | undefined;
  readonly resource: Resource<T>;
  /** All fields that the operator wants to own of the object, and no others. */
  readonly object: T;
  /**
   * Ids of the members that must be there before this one. The Namespace that the object is in need not be named where
   * it is in the set.
   */
  readonly dependsOn?: readonly string[] | undefined;
}

/** The id of a member, for messages too: 'Namespace a-node-exporter', 'Service a/prometheus'. */
export function idOf({ resource, object }: Member): string {
  return `${resource.kind} ${keyOf(object)}`;
}

/** Returns the id of a member of this kind and name. */
export function idFor({ kind }: Pick<Resource, 'kind'>, ref: ObjectRef): string {
  return `${kind} ${keyOf({ metadata: ref })}`;
}

/** Returns whether the member is a Namespace. */
export function isNamespace({ resource }: Member): boolean {
  return resource.kind === 'Namespace' && resource.group === '';
}

/** Returns whether the member is in this Namespace. */
export function isIn({ object }: Member, namespace: Member): boolean {
  return isNamespace(namespace) && object.metadata?.namespace === namespace.object.metadata?.name;
}
