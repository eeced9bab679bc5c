import type { ListOptions } from '../../client/client.ts';
import { ApiError, TransportError } from '../../client/errors.ts';
import { apiVersionOf, resourcePath } from '../../client/resource.ts';
import type { KubeObject, Resource } from '../../client/resource.ts';
import type { Transport, TransportRequest } from '../../client/transport/types.ts';
import type { Call } from './call.ts';
import type { FakeApi } from './fakeApi.ts';
import { matches } from './selector.ts';

/** A transport by which informers watch a fake API server. */
export interface FakeWatches extends Transport {
  /** Watches that are open now. */
  readonly open: number;
  /** Ends every open watch, as an API server does at the timeout of a watch. */
  endAll(): void;
}

/**
 * Serves watches of these resources from a fake API server, and nothing else. Each watch is recorded and can be
 * overridden like any other call, as the verb `watch`. The server keeps no history: it answers a watch that starts at a
 * version with 410, so that the informer lists again.
 */
export function watchesOf(api: FakeApi, resources: readonly Resource[]): FakeWatches {
  const open = new Set<OpenWatch>();
  return {
    get open() {
      return open.size;
    },
    endAll: () => {
      for (const watch of open) watch.end();
    },
    async stream(request) {
      const { resource, selection } = chosenBy(resources, request);
      const { namespace } = selection;
      const call: Call = { verb: 'watch', resource, what: resource.kind, name: '', namespace, options: selection };
      api.calls.push(call);
      await api.intercept(call);
      const { method, path, query } = request;
      if (query?.sendInitialEvents !== true) throw new ApiError({ status: 410, reason: 'Expired', method, path });
      const watch = new OpenWatch(api, resource, selection);
      request.signal?.addEventListener('abort', () => watch.end(new TransportError('aborted', { failure: 'aborted' })));
      open.add(watch);
      return watch.lines(() => void open.delete(watch));
    },
    request: ({ method, path }) => Promise.reject(new Error(`watches only: ${method} ${path}`)),
    whenReachable: () => Promise.resolve(false),
    close: () => Promise.resolve(),
  };
}

class OpenWatch {
  readonly #waiting: string[] = [];
  readonly #stop: () => void;
  #news = Promise.withResolvers<undefined>();
  #end: { readonly error: Error | undefined } | undefined;

  constructor(api: FakeApi, resource: Resource, selection: ListOptions) {
    const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    for (const [id, object] of api.objects) {
      if (!id.startsWith(`${resource.kind} `) || !matches(object, selection)) continue;
      this.#tell('ADDED', { ...type, ...object, metadata: { resourceVersion: '1', ...object.metadata } });
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    this.#tell('BOOKMARK', { ...type, metadata: { resourceVersion: api.version, annotations } });
    this.#stop = api.watch(resource, (change) => {
      if (matches(change.object, selection)) this.#tell(change.type, change.object);
    });
  }

  end(error?: Error): void {
    this.#stop();
    this.#end ??= { error };
    this.#news.resolve(undefined);
  }

  async *lines(ended: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        for (const line of this.#waiting.splice(0)) yield Buffer.from(line);
        if (this.#end?.error !== undefined) throw this.#end.error;
        if (this.#end !== undefined) return;
        await this.#news.promise;
        this.#news = Promise.withResolvers<undefined>();
      }
    } finally {
      this.#stop();
      ended();
    }
  }

  #tell(type: string, object: KubeObject): void {
    this.#waiting.push(`${JSON.stringify({ type, object })}\n`);
    this.#news.resolve(undefined);
  }
}

/** @throws Error for another resource, and for a label selector, which an object can come to match later */
function chosenBy(
  resources: readonly Resource[],
  { path, query, signal }: TransportRequest,
): { resource: Resource; selection: ListOptions } {
  const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
  const resource = resources.find((each) => resourcePath(each, { namespace }) === path);
  if (resource === undefined || query?.labelSelector !== undefined) throw new Error(`no watch of ${path} here`);
  const selection: ListOptions = signal === undefined ? {} : { signal };
  if (namespace !== undefined) selection.namespace = namespace;
  if (query?.fieldSelector !== undefined) selection.fieldSelector = String(query.fieldSelector);
  return { resource, selection };
}
