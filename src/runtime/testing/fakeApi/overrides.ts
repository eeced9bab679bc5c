import type { Call } from './call.ts';
import type { FakeApi } from './fakeApi.ts';

/** Rejects the calls for which `errorOf` returns an error. Replaces an earlier override of the same API server. */
export function refuseOn(api: FakeApi, errorOf: (call: Call) => Error | undefined): void {
  api.intercept = (call) => {
    const error = errorOf(call);
    return error === undefined ? undefined : Promise.reject(error);
  };
}

/**
 * Leaves the calls that `which` selects without an answer until their signal is aborted. Replaces an earlier override
 * of the same API server.
 *
 * @returns counts the selected calls that are in progress
 */
export function hangOn(api: FakeApi, which: (call: Call) => boolean): () => number {
  api.intercept = (call) => (which(call) ? aborted(call.options?.signal) : undefined);
  return () => api.calls.filter((call) => which(call) && call.options?.signal?.aborted !== true).length;
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal?.reason as Error);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
