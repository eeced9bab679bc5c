import type { Client } from './client.ts';
import type { Resource } from './resource.ts';

/** Counts writes by kind and Kubernetes verb. */
export interface WriteMetrics {
  wrote(kind: string, verb: 'create' | 'apply' | 'patch' | 'delete'): void;
}

/** Returns a client that counts the writes that the API server accepted. A dry run does not count. */
export function countingWrites(client: Client, metrics: WriteMetrics): Client {
  const counted = async <R>(
    resource: Resource,
    verb: Parameters<WriteMetrics['wrote']>[1],
    write: Promise<R>,
  ): Promise<R> => {
    const answer = await write;
    metrics.wrote(resource.kind, verb);
    return answer;
  };
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    create: (resource, object, options) => counted(resource, 'create', client.create(resource, object, options)),
    apply: (resource, object, options) =>
      options.dryRun === true
        ? client.apply(resource, object, options)
        : counted(resource, 'apply', client.apply(resource, object, options)),
    mergePatch: (resource, ref, patch, options) =>
      counted(resource, 'patch', client.mergePatch(resource, ref, patch, options)),
    jsonPatch: (resource, ref, operations, options) =>
      counted(resource, 'patch', client.jsonPatch(resource, ref, operations, options)),
    delete: (resource, ref, options) => counted(resource, 'delete', client.delete(resource, ref, options)),
  };
}
