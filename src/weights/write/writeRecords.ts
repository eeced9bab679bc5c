import type { Applier } from '../../runtime/apply/apply.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { NotLeaderError } from '../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../runtime/client/resource.ts';
import { forEachAtOnce } from '../../runtime/controller/forEachAtOnce.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../records/endpoint.ts';
import { keyOfSource } from '../records/records.ts';
import type { PlannedSource, RecordsPlan } from '../plan/plan.ts';

/** Writes in parallel: fewer than the calls of the transport, so that a status does not wait behind thousands of records. */
const WRITES_AT_ONCE = 12;

export interface RecordWriters {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Pick<Applier, 'apply'>;
  readonly endpoints: Pick<Overlay<DnsEndpoint>, 'wrote'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Applies and removes the DNSEndpoints of a plan, in parallel. Writes only what differs. A write that fails does not stop the
 * others.
 *
 * @returns the errors by `namespace/name`
 * @throws NotLeaderError; the reason of `signal` if it was aborted
 */
export async function writeRecords(
  { sources, removed }: RecordsPlan,
  writers: RecordWriters,
): Promise<ReadonlyMap<string, unknown>> {
  const applies = sources.map((planned) => ({
    key: keyOfSource(planned.source),
    write: () => applyOne(planned, writers),
  }));
  const removals = removed.map((endpoint) => ({ key: keyOf(endpoint), write: () => removeOne(endpoint, writers) }));
  const failures = new Map<string, unknown>();
  await forEachAtOnce([...applies, ...removals], WRITES_AT_ONCE, async ({ key, write }) => {
    writers.signal?.throwIfAborted();
    try {
      await write();
    } catch (error) {
      if (error instanceof NotLeaderError) throw error;
      failures.set(key, error);
    }
  });
  return failures;
}

async function applyOne(
  { desired, live }: PlannedSource,
  { applier, endpoints, signal }: RecordWriters,
): Promise<void> {
  if (desired === undefined) return;
  // A DNSEndpoint of that name that somebody else has made meanwhile is left alone.
  const call = { takesNothingOver: true, ...(signal && { signal }) };
  const { written, object } = await applier.apply(DNS_ENDPOINTS, desired, live, call);
  if (written) endpoints.wrote(object);
}

/** Only as it was seen: one that was made anew, or changed, is decided again. */
async function removeOne(endpoint: DnsEndpoint, { client, signal }: RecordWriters): Promise<void> {
  const { uid, resourceVersion } = endpoint.metadata ?? {};
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await client.delete(DNS_ENDPOINTS, refOfKey(keyOf(endpoint)), { preconditions, ...(signal && { signal }) });
}
