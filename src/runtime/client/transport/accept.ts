/**
 * The value of Accept for just the metadata of objects; a server that cannot do that answers with all of them.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
export function metadataOf(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}
