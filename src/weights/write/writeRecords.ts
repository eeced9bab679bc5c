import type { Applier } from '../../runtime/apply/apply.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict, NotLeaderError, WaitingError } from '../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../runtime/client/resource.ts';
import { forEachAtOnce } from '../../runtime/controller/forEachAtOnce.ts';
import { Turns } from '../../runtime/controller/turns.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../records/endpoint.ts';
import { OVERTAKEN_RETRY_MS } from '../../runtime/status/writeFailures.ts';
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
 * others. A host that goes from one DNSEndpoint to another is first added and then taken away, so that it always has a record.
 *
 * @returns the errors by `namespace/name`
 * @throws WaitingError if nothing failed, but somebody else wrote a DNSEndpoint meanwhile: it is decided again;
 *   NotLeaderError; the reason of `signal` if it was aborted
 */
export async function writeRecords(
  { sources, removed }: RecordsPlan,
  writers: RecordWriters,
): Promise<ReadonlyMap<string, unknown>> {
  const applies = sources.map((planned) => ({
    key: keyOfSource(planned.source),
    losesHosts: losesHosts(planned),
    write: () => applyOne(planned, writers),
  }));
  const removals = removed.map((endpoint) => ({ key: keyOf(endpoint), write: () => removeOne(endpoint, writers) }));
  const [last, first] = [applies.filter((each) => each.losesHosts), applies.filter((each) => !each.losesHosts)];
  const failures = new Map<string, unknown>();
  const overtaken = new Set<string>();
  await writeAll(first, { failures, overtaken }, writers);
  await writeAll([...last, ...removals], { failures, overtaken }, writers);
  const [one] = overtaken;
  if (one === undefined || failures.size > 0) return failures;
  throw new WaitingError('Conflict', `DNSEndpoint ${one} was written by somebody else`, OVERTAKEN_RETRY_MS);
}

/** What came of the writes that did not succeed: errors by key, and the keys that somebody else wrote. */
interface Unwritten {
  readonly failures: Map<string, unknown>;
  readonly overtaken: Set<string>;
}

interface Write {
  readonly key: string;
  readonly write: () => Promise<void>;
}

async function writeAll(
  writes: readonly Write[],
  { failures, overtaken }: Unwritten,
  { signal }: RecordWriters,
): Promise<void> {
  const turns = new Turns();
  await forEachAtOnce(writes, WRITES_AT_ONCE, async ({ key, write }) => {
    // Most are as they should be: then no call to the API server ends the turn.
    await turns.give();

    signal?.throwIfAborted();
    try {
      await write();
    } catch (error) {
      if (error instanceof NotLeaderError) throw error;
      if (error instanceof WaitingError || isConflict(error)) overtaken.add(key);
      else failures.set(key, error);
    }
  });
}

/** Whether the DNSEndpoint has a host that it is to lose. */
function losesHosts({ desired, live }: PlannedSource): boolean {
  const kept = new Set(desired?.spec?.endpoints?.map(({ dnsName }) => dnsName));
  return desired !== undefined && (live?.spec?.endpoints ?? []).some(({ dnsName }) => !kept.has(dnsName));
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

/** Only as it was seen: one that was recreated, or changed, is decided again. */
async function removeOne(endpoint: DnsEndpoint, { client, signal }: RecordWriters): Promise<void> {
  const { uid, resourceVersion } = endpoint.metadata ?? {};
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await client.delete(DNS_ENDPOINTS, refOfKey(keyOf(endpoint)), { preconditions, ...(signal && { signal }) });
}
