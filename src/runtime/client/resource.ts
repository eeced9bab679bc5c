import type { V1ObjectMeta } from '@kubernetes/client-node';

/** What every object of the Kubernetes API has. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: V1ObjectMeta;
}

/** What the API server calls a kind. Group '' is the core group. */
export interface Resource<T extends KubeObject = KubeObject> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** Never set: it only carries the type of the objects. */
  readonly _type?: T;
}

/** Names one object; no namespace for kinds that have none. */
export interface ObjectRef {
  name: string;
  namespace?: string;
}

/** The `apiVersion` of a kind's objects: 'v1', 'apps/v1'. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** A kind's name for people and metrics, as kubectl writes it: 'nodes', 'deployments.apps'. */
export function resourceName(resource: Resource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/**
 * The URL path of a collection (no name), an object, or a part of one. Names are escaped.
 *
 * @param ref without a namespace: the objects of all namespaces
 * @param subresource 'status', 'eviction', ...
 */
export function resourcePath(resource: Resource, ref: Partial<ObjectRef> = {}, subresource?: string): string {
  const parts = resource.group === '' ? ['/api', resource.version] : ['/apis', resource.group, resource.version];
  if (resource.namespaced && ref.namespace !== undefined) parts.push('namespaces', encodeURIComponent(ref.namespace));
  parts.push(resource.plural);
  if (ref.name !== undefined) parts.push(encodeURIComponent(ref.name));
  if (subresource !== undefined) parts.push(subresource);
  return parts.join('/');
}

/** 'namespace/name', or 'name' where there is no namespace: the key of work queues and stores. */
export function keyOf(object: KubeObject): string {
  const namespace = object.metadata?.namespace;
  const name = object.metadata?.name ?? '';
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** The reverse of keyOf. */
export function refOfKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
