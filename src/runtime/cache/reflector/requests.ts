import { apiVersionOf, resourcePath, type KubeObject, type Resource, metadataOf } from '../../client/resource.ts';
import type { TransportRequest } from '../../client/transport/types.ts';

/** The objects to reflect, and the part of each object. */
export interface Selection {
  resource: Resource;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  metadataOnly?: boolean | undefined;
  /** Objects per page of a list. Default: 500, as in client-go. */
  pageSize?: number | undefined;
  /** The server ends a watch after one to two times this, seconds. */
  leastWatchSeconds?: number | undefined;
}

/** client-go's minimum, seconds. */
const LEAST_WATCH_S = 300;
const PAGE_SIZE = 500;

/** A watch that starts at `version`. */
export function watchRequest(selection: Selection, version: string): TransportRequest {
  const request = baseRequest(selection, 'PartialObjectMetadata');
  const query = { ...request.query, ...watchQuery(selection), resourceVersion: version };
  return { ...request, query };
}

/** A watch that starts with all objects, as current as a read from etcd (KEP-3157). */
export function watchListRequest(selection: Selection): TransportRequest {
  const request = baseRequest(selection, 'PartialObjectMetadata');
  const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', resourceVersion: '' };
  return { ...request, query: { ...request.query, ...watchQuery(selection), ...initial } };
}

/** One page of a list; without `next` the first. The transport does not retry it: the reflector has its own backoff. */
export function pageRequest(selection: Selection, next: string | undefined): TransportRequest {
  const request = baseRequest(selection, 'PartialObjectMetadataList');
  return {
    ...request,
    retry: false,
    query: { ...request.query, limit: selection.pageSize ?? PAGE_SIZE, continue: next },
  };
}

/** All objects in one response, after the pages expired. */
export function wholeListRequest(selection: Selection): TransportRequest {
  return { ...baseRequest(selection, 'PartialObjectMetadataList'), retry: false };
}

/** The object with its own apiVersion and kind, which list items and metadata-only responses lack. */
export function normalize<T extends KubeObject>({ resource, metadataOnly }: Selection, object: T): T {
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return metadataOnly === true ? ({ ...type, metadata: object.metadata } as T) : { ...object, ...type };
}

function baseRequest(
  { resource, namespace, ...selection }: Selection,
  kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList',
): TransportRequest {
  const { labelSelector, fieldSelector, metadataOnly } = selection;
  return {
    method: 'GET',
    path: resourcePath(resource, namespace === undefined ? {} : { namespace }),
    query: { labelSelector, fieldSelector },
    ...(metadataOnly === true ? { accept: metadataOf(kind) } : {}),
  };
}

function watchQuery({ leastWatchSeconds = LEAST_WATCH_S }: Selection): Record<string, string | number | boolean> {
  const timeoutSeconds = Math.round(leastWatchSeconds * (1 + Math.random()));
  return { watch: true, allowWatchBookmarks: true, timeoutSeconds };
}
