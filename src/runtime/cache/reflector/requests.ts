import { apiVersionOf, resourcePath } from '../../client/resource.ts';
import type { KubeObject, Resource } from '../../client/resource.ts';
import { metadataOf } from '../../client/transport/accept.ts';
import type { TransportRequest } from '../../client/transport/types.ts';

/** Which objects are reflected, and how much of each. */
export interface Selection {
  resource: Resource;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  metadataOnly?: boolean | undefined;
}

/** client-go's minimum; the server ends a watch after one to two times this. */
const SHORTEST_WATCH_S = 300;
/** As many objects a page as client-go asks for. */
const PAGE_SIZE = 500;

/** A watch from `version` on. */
export function watchRequest(selection: Selection, version: string): TransportRequest {
  const request = baseRequest(selection, 'PartialObjectMetadata');
  const query = { ...request.query, ...watchQuery(), resourceVersion: version };
  return { ...request, query };
}

/** A watch that begins with everything there is, as fresh as a read from etcd (KEP-3157). */
export function watchListRequest(selection: Selection): TransportRequest {
  const request = baseRequest(selection, 'PartialObjectMetadata');
  const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', resourceVersion: '' };
  return { ...request, query: { ...request.query, ...watchQuery(), ...initial } };
}

/** One page of a list; without `next` the first one. Not retried by the transport: the reflector has its own pace. */
export function pageRequest(selection: Selection, next: string | undefined): TransportRequest {
  const request = baseRequest(selection, 'PartialObjectMetadataList');
  return { ...request, retry: false, query: { ...request.query, limit: PAGE_SIZE, continue: next } };
}

/** Everything in one answer, for when the pages have expired under way. */
export function wholeListRequest(selection: Selection): TransportRequest {
  return { ...baseRequest(selection, 'PartialObjectMetadataList'), retry: false };
}

/** The object as it is kept: of its own kind, which items of lists and metadata-only answers do not say. */
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

function watchQuery(): Record<string, string | number | boolean> {
  const timeoutSeconds = Math.round(SHORTEST_WATCH_S * (1 + Math.random()));
  return { watch: true, allowWatchBookmarks: true, timeoutSeconds };
}
