import type { CallOptions, Client } from '../../../runtime/client/client.ts';
import { InFlight } from '../../../runtime/async/limit.ts';
import { TransportError } from '../../../runtime/client/errors.ts';

/**
 * A client that has at most so many writes in flight, first come, first served. The transport sends 16 calls at once: writes that hang,
 * of all stacks together, must leave some to reads and to the statuses.
 */
export function limitWrites(client: Client, limit: number): Client {
  const inFlight = new InFlight(limit);
  const inTurn = async <R>({ signal = new AbortController().signal }: CallOptions, send: () => Promise<R>) => {
    const release = inFlight.tryAcquire() ?? (await inFlight.acquire(signal));
    if (release === undefined) throw new TransportError('cancelled', { failure: 'aborted', unsent: true });
    try {
      return await send();
    } finally {
      release();
    }
  };
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    create: (resource, object, options = {}) => inTurn(options, () => client.create(resource, object, options)),
    apply: (resource, object, options) => inTurn(options, () => client.apply(resource, object, options)),
    mergePatch: (resource, ref, patch, options) =>
      inTurn(options, () => client.mergePatch(resource, ref, patch, options)),
    jsonPatch: (resource, ref, operations, options) =>
      inTurn(options, () => client.jsonPatch(resource, ref, operations, options)),
    delete: (resource, ref, options = {}) => inTurn(options, () => client.delete(resource, ref, options)),
  };
}
