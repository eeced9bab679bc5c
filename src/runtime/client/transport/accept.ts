/**
 * The Accept header that requests only the metadata of objects. A server without support for it returns whole objects.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
export function metadataOf(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}
