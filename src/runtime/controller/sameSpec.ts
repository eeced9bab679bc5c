import type { KubeObject } from '../client/resource.ts';

/**
 * True if only the status or the metadata changed. The API server counts the changes of the spec of each object. The uid
 * differs if it was deleted and created again while no watch ran.
 */
export function sameSpec(a: Pick<KubeObject, 'metadata'> | undefined, b: Pick<KubeObject, 'metadata'>): boolean {
  const [one, other] = [a?.metadata, b.metadata];
  return one?.generation !== undefined && one.generation === other?.generation && one.uid === other.uid;
}
