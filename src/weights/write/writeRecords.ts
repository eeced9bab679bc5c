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

/** Most writes in parallel: fewer than the transport allows, so that the write of a status does not wait for thousands of records. */
const WRITES_AT_ONCE = 12;

export interface RecordWriters {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Pick<Applier, 'apply'>;
  readonly endpoints: Pick<Overlay<DnsEndpoint>, 'wrote'>;
  readonly logger: Pick<Logger, 'info'>;
  readonly signal?: AbortSignal | undefined;
}

/** Most DNSEndpoints that a log line names. */
const MOST_NAMED = 5;

/**
 * Applies and removes the DNSEndpoints of a plan, in parallel. Writes only differences. A failed write does not stop the other
 * writes. Logs the written DNSEndpoints in one line. A host that moves between DNSEndpoints is first added to the new one, and
 * removed from the old one only if that succeeded. An exchange of hosts between two DNSEndpoints is not ordered.
 *
 * @returns the errors by `namespace/name`
 * @throws WaitingError if nothing failed, but another client wrote a DNSEndpoint since it was read: plan again;
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
  /** Hosts that the DNSEndpoint gets. */
  readonly gains: readonly string[];
  /** Hosts that the DNSEndpoint loses. */
  readonly loses: readonly string[];
  /** @returns false if no write was necessary */
  readonly write: () => Promise<boolean>;
}

/** Orders writes into phases: first without lost hosts, then with both, last without gained hosts. */
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

/** Returns the hosts of `endpoint` that `other` does not have. */
function difference(endpoint: DnsEndpoint | undefined, other: DnsEndpoint | undefined): string[] {
  const known = new Set(hostsIn(other?.spec?.endpoints));
  return hostsIn(endpoint?.spec?.endpoints).filter((host) => !known.has(host));
}

/** The outcome of the writes, by key of the DNSEndpoint. */
interface Outcome {
  readonly written: string[];
  readonly failures: Map<string, unknown>;
  /** DNSEndpoints that another client wrote since they were read. */
  readonly overtaken: Set<string>;
  /** Hosts that failed writes would have added. */
  readonly missing: Set<string>;
}

async function writeAll(
  writes: readonly Write[],
  { written, failures, overtaken, missing }: Outcome,
  { signal }: RecordWriters,
): Promise<void> {
  const turns = new Turns();
  await forEachAtOnce(writes, WRITES_AT_ONCE, async ({ key, gains, loses, write }) => {
    // Most DNSEndpoints need no write, so that no call to the API server yields to the event loop.
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
  // Takes over no DNSEndpoint that another client has created since the plan.
  const call = { takesNothingOver: true, createsByApply: true, ...(signal && { signal }) };
  const { written, object } = await applier.apply(DNS_ENDPOINTS, desired, live, call);
  if (written) endpoints.wrote(object);
  return written;
}

/** Deletes the DNSEndpoint only in the version of the plan: if it was changed or created again, the next plan decides. */
async function removeOne(endpoint: DnsEndpoint, { client, signal }: RecordWriters): Promise<boolean> {
  const { uid, resourceVersion } = endpoint.metadata ?? {};
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await client.delete(DNS_ENDPOINTS, refOfKey(keyOf(endpoint)), { preconditions, ...(signal && { signal }) });
  return true;
}
