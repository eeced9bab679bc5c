import type { V1ObjectMeta } from '@kubernetes/client-node';

/** The fields that every object of the Kubernetes API has. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: V1ObjectMeta;
}

/** A kind and its names in the API. Group '' is the core group. */
export interface Resource<T extends KubeObject = KubeObject> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** Never set; it only carries the type of the objects. */
  readonly _type?: T;
}

/** Name of one object; without a namespace for cluster-scoped kinds. */
export interface ObjectRef {
  name: string;
  namespace?: string;
}

/** The `apiVersion` of a kind's objects: 'v1', 'apps/v1'. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The name of a kind as kubectl writes it, for messages and metrics: 'nodes', 'deployments.apps'. */
export function resourceName(resource: Resource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/**
 * The URL path of a collection (no name), an object, or a part of one. Names, group and version are escaped: some come
 * from users.
 *
 * @param ref without a namespace: the objects of all namespaces
 * @param subresource 'status', 'eviction', ...
 */
export function resourcePath(resource: Resource, ref: Partial<ObjectRef> = {}, subresource?: string): string {
  const [group, version] = [resource.group, resource.version].map(encodeURIComponent);
  const parts = resource.group === '' ? ['/api', version] : ['/apis', group, version];
  if (resource.namespaced && ref.namespace !== undefined) parts.push('namespaces', encodeURIComponent(ref.namespace));
  parts.push(resource.plural);
  if (ref.name !== undefined) parts.push(encodeURIComponent(ref.name));
  if (subresource !== undefined) parts.push(subresource);
  return parts.join('/');
}

/** 'namespace/name', or 'name' for cluster-scoped objects: the key of work queues and stores. */
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

/**
 * The Accept header that requests only the metadata of objects. A server without support for it returns whole objects.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
export function metadataOf(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

/**
 * Formats a time as metav1.MicroTime in JSON: RFC 3339 in UTC with six fractional digits of the second.
 *
 * @param ms wall clock, milliseconds since 1970
 */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

/**
 * True if only the status or the metadata changed. The API server counts the changes of the spec of each object. The uid
 * differs if it was deleted and created again while no watch ran.
 */
export function sameSpec(a: Pick<KubeObject, 'metadata'> | undefined, b: Pick<KubeObject, 'metadata'>): boolean {
  const [one, other] = [a?.metadata, b.metadata];
  return one?.generation !== undefined && one.generation === other?.generation && one.uid === other.uid;
}
