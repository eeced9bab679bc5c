import { isDeepStrictEqual } from 'node:util';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';

/** Whether an event changes more than the version of a trimmed object, as the heartbeats of nodes do. */
export function isChange<T extends KubeObject>(event: InformerEvent<T>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  return !isDeepStrictEqual(withoutVersion(event.old), withoutVersion(event.object));
}

function withoutVersion({ metadata, ...rest }: KubeObject): object {
  return { ...rest, metadata: { ...metadata, resourceVersion: undefined } };
}
