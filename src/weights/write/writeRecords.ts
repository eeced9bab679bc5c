import type { Applier } from '../../runtime/apply/apply.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict, NotLeaderError, WaitingError } from '../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../runtime/client/resource.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { forEachAtOnce } from '../../runtime/controller/forEachAtOnce.ts';
import { Turns } from '../../runtime/controller/turns.ts';
import { DNS_ENDPOINTS, hostsIn, type DnsEndpoint } from '../records/endpoint.ts';
import { OVERTAKEN_RETRY_MS } from '../../runtime/status/writeFailures.ts';
import { endpointKeyOf } from '../records/source.ts';
import type { PlannedSource, RecordsPlan } from '../plan/plan.ts';

/** Writes in parallel: fewer than the calls of the transport, so that a status does not wait behind thousands of records. */
const WRITES_AT_ONCE = 12;

export interface RecordWriters {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Pick<Applier, 'apply'>;
  readonly endpoints: Pick<Overlay<DnsEndpoint>, 'wrote'>;
  readonly logger: Pick<Logger, 'info'>;
  readonly signal?: AbortSignal | undefined;
}

/** DNSEndpoints that a line of the log names. */
const MOST_NAMED = 5;

/**
 * Applies and removes the DNSEndpoints of a plan, in parallel. Writes only what differs. A write that fails does not stop the
 * others. One line of the log tells what was written. A host that goes from one DNSEndpoint to another is first added; it is
 * taken away only if it was. An exchange of hosts between two DNSEndpoints is not ordered.
 *
 * @returns the errors by `namespace/name`
 * @throws WaitingError if nothing failed, but somebody else wrote a DNSEndpoint meanwhile: it is decided again;
 *   NotLeaderError; the reason of `signal` if it was aborted
 */
export async function writeRecords(
  { sources, removed }: Pick<RecordsPlan, 'sources' | 'removed'>,
  writers: RecordWriters,
): Promise<ReadonlyMap<string, unknown>> {
  const applies = sources.map((planned): Write => ({
    key: endpointKeyOf(planned.source),
    gains: difference(planned.desired, planned.live),
    loses: planned.desired === undefined ? [] : difference(planned.live, planned.desired),
    write: () => applyOne(planned, writers),
  }));
  const removals = removed.map((endpoint): Write => ({
    ...{ key: keyOf(endpoint), gains: [], loses: hostsIn(endpoint.spec?.endpoints) },
    write: () => removeOne(endpoint, writers),
  }));
  const outcome: Outcome = { written: [], failures: new Map(), overtaken: new Set(), missing: new Set() };
  try {
    for (const phase of inOrder([...applies, ...removals])) await writeAll(phase, outcome, writers);
  } finally {
    logWritten(outcome, writers.logger);
  }
  const { failures, overtaken } = outcome;
  const [one] = overtaken;
  if (one === undefined || failures.size > 0) return failures;
  throw new WaitingError('Conflict', `DNSEndpoint ${one} was written by another client`, OVERTAKEN_RETRY_MS);
}

interface Write {
  readonly key: string;
  /** Hosts that the DNSEndpoint gets, and those that it has and is to lose. */
  readonly gains: readonly string[];
  readonly loses: readonly string[];
  /** @returns false if no write was necessary */
  readonly write: () => Promise<boolean>;
}

/** First those that take nothing away, then those that also add. */
function inOrder(writes: readonly Write[]): Write[][] {
  const [losing, first] = [
    writes.filter(({ loses }) => loses.length > 0),
    writes.filter(({ loses }) => loses.length === 0),
  ];
  return [first, losing.filter(({ gains }) => gains.length > 0), losing.filter(({ gains }) => gains.length === 0)];
}

function logWritten({ written, failures }: Outcome, logger: RecordWriters['logger']): void {
  if (written.length === 0) return;
  const endpoints = [...written.slice(0, MOST_NAMED), ...(written.length > MOST_NAMED ? ['...'] : [])];
  logger.info({ written: written.length, failed: failures.size, endpoints }, 'DNSEndpoints written');
}

/** The hosts that the first one has, and the other one has not. */
function difference(endpoint: DnsEndpoint | undefined, other: DnsEndpoint | undefined): string[] {
  const known = new Set(hostsIn(other?.spec?.endpoints));
  return hostsIn(endpoint?.spec?.endpoints).filter((host) => !known.has(host));
}

/** What came of the writes: the keys that were written, errors by key, and the keys that somebody else wrote. */
interface Outcome {
  readonly written: string[];
  readonly failures: Map<string, unknown>;
  readonly overtaken: Set<string>;
  /** Hosts that these writes would have added. */
  readonly missing: Set<string>;
}

async function writeAll(
  writes: readonly Write[],
  { written, failures, overtaken, missing }: Outcome,
  { signal }: RecordWriters,
): Promise<void> {
  const turns = new Turns();
  await forEachAtOnce(writes, WRITES_AT_ONCE, async ({ key, gains, loses, write }) => {
    // Most are as they should be: then no call to the API server ends the turn.
    await turns.give();
    signal?.throwIfAborted();
    try {
      if (loses.some((host) => missing.has(host))) gains.forEach((host) => missing.add(host));
      else if (await write()) written.push(key);
    } catch (error) {
      if (error instanceof NotLeaderError) throw error;
      if (error instanceof WaitingError || isConflict(error)) overtaken.add(key);
      else failures.set(key, error);
      for (const host of gains) missing.add(host);
    }
  });
}

async function applyOne(
  { desired, live }: PlannedSource,
  { applier, endpoints, signal }: RecordWriters,
): Promise<boolean> {
  if (desired === undefined) return false;
  // A DNSEndpoint of that name that somebody else has made meanwhile is left alone.
  const call = { takesNothingOver: true, createsByApply: true, ...(signal && { signal }) };
  const { written, object } = await applier.apply(DNS_ENDPOINTS, desired, live, call);
  if (written) endpoints.wrote(object);
  return written;
}

/** Only as it was seen: one that was recreated, or changed, is decided again. */
async function removeOne(endpoint: DnsEndpoint, { client, signal }: RecordWriters): Promise<boolean> {
  const { uid, resourceVersion } = endpoint.metadata ?? {};
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await client.delete(DNS_ENDPOINTS, refOfKey(keyOf(endpoint)), { preconditions, ...(signal && { signal }) });
  return true;
}
