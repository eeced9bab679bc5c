import type { KubernetesObject } from '@kubernetes/client-node';
import { LineSplitter } from '../../src/runtime/cache/reflector/watchEvents.ts';
import type { Transport } from '../../src/runtime/client/transport.ts';

/** An object as one write left it. */
export interface Version<O> {
  /** The revision of the whole store: etcd counts all writes of all kinds, so that writes of two kinds have an order. */
  readonly revision: number;
  readonly object: O;
}

/** Every version of the objects of one path, by a watch of its own. */
export interface Versions<O> {
  /** As many as have come so far, oldest first; deletions are left out. */
  readonly seen: readonly Version<O>[];
  /** Ends the watch. Throws what ended it before. */
  stop(): Promise<void>;
}

/** Begins with what there is now; resolves when that has come. @param path such as '/api/v1/nodes' */
export async function watchVersions<O extends KubernetesObject>(
  transport: Transport,
  path: string,
): Promise<Versions<O>> {
  const { items, metadata } = await transport.request<{ items: O[]; metadata: { resourceVersion: string } }>({
    method: 'GET',
    path,
  });
  const seen = items.map(versionOf).sort((a, b) => a.revision - b.revision);
  const end = new AbortController();
  const query = { watch: true, resourceVersion: metadata.resourceVersion };
  const stream = await transport.stream({ method: 'GET', path, query, signal: end.signal });
  const read = async (): Promise<void> => {
    for await (const { type, object } of eventsOf(stream)) {
      if (type !== 'DELETED') seen.push(versionOf(object as O));
    }
  };
  let failure: unknown;
  const reading = read().catch((error: unknown) => void (failure = end.signal.aborted ? undefined : error));
  return {
    seen,
    stop: async () => {
      end.abort();
      await reading;
      if (failure !== undefined) throw new Error(`the watch of ${path} was lost`, { cause: failure });
    },
  };
}

const versionOf = <O extends KubernetesObject>(object: O): Version<O> => ({
  revision: Number(object.metadata?.resourceVersion),
  object,
});

async function* eventsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<{ type: string; object: unknown }> {
  const lines = new LineSplitter();
  for await (const bytes of stream) {
    for (const line of lines.push(bytes)) yield JSON.parse(line.toString()) as { type: string; object: unknown };
  }
}
