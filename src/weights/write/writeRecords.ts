import type { Applier } from '../../runtime/apply/apply.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { isConflict, NotLeaderError, WaitingError } from '../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../runtime/client/resource.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { inTurns, forEachAtOnce } from '../../runtime/async/limit.ts';
import { Turns } from '../../runtime/process/turns.ts';
import { DNS_ENDPOINTS, hostsIn, type DnsEndpoint } from '../records/endpoint.ts';
import { OVERTAKEN_RETRY_MS } from '../../runtime/status/writeFailures.ts';
import { endpointKeyOf } from '../records/source.ts';
import type { PlannedSource, RecordsPlan } from '../plan/plan.ts';

/** Most writes in parallel: fewer than the transport allows, so that the write of a status does not wait for thousands of records. */
const WRITES_AT_ONCE = 12;
/**
 * The time after which a phase of a call begins no further write: ms. The next plan has the newest changes of all namespaces, so a
 * change waits for this time at most three times (three phases), whatever other namespaces change.
 */
export const ROUND_MS = 5_000;

export interface RecordWriters {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Pick<Applier, 'apply' | 'isUpToDate'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly endpoints: Pick<Overlay<DnsEndpoint>, 'wrote'>;
  readonly logger: Pick<Logger, 'info'>;
  readonly signal?: AbortSignal | undefined;
}

/** Most DNSEndpoints that a log line names. */
const MOST_NAMED = 5;

/** The result of a round of writes. */
export interface Written {
  /** How many DNSEndpoints were written. */
  readonly written: number;
  /** The errors by `namespace/name`. */
  readonly failures: ReadonlyMap<string, unknown>;
  /** How many writes did not begin in this round: plan again at once. */
  readonly left: number;
}

/**
 * Applies and removes the DNSEndpoints of a plan, in parallel, namespaces in turn, for a limited time. Writes only differences. A
 * failed write does not stop the other writes. Logs the written DNSEndpoints in one line. A host that moves between DNSEndpoints is
 * first added to the new one, and removed from the old one only if that succeeded. An exchange of hosts between two DNSEndpoints is
 * not ordered.
 *
 * @param failedBefore keys of writes that failed in an earlier round: they come last in their namespace, so that they keep out no other
 * @throws WaitingError if nothing failed, but another client wrote a DNSEndpoint since it was read: plan again;
 *   NotLeaderError; the reason of `signal` if it was aborted
 */
export async function writeRecords(
  { sources, removed }: Pick<RecordsPlan, 'sources' | 'removed'>,
  writers: RecordWriters,
  failedBefore: ReadonlySet<string> = new Set(),
): Promise<Written> {
  const applies = await appliesOf(sources, writers);
  const removals = removed.map((endpoint): Write => ({
    ...{ key: keyOf(endpoint), gains: [], loses: hostsIn(endpoint.spec?.endpoints) },
    write: () => removeOne(endpoint, writers),
  }));
  const all = [...applies, ...removals];
  const writes = [
    ...all.filter(({ key }) => !failedBefore.has(key)),
    ...all.filter(({ key }) => failedBefore.has(key)),
  ];
  const outcome: Outcome = { written: [], failures: new Map(), overtaken: new Set(), missing: new Set(), left: 0 };
  try {
    for (const phase of inOrder(writes)) await writeAll(phase, outcome, writers);
  } finally {
    logWritten(outcome, writers.logger);
  }
  const { written, failures, overtaken, left } = outcome;
  const [one] = overtaken;
  if (one === undefined || failures.size > 0) return { written: written.length, failures, left };
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

/** Returns the necessary applies. Most DNSEndpoints need none, so that no call to the API server yields to the event loop. */
async function appliesOf(sources: readonly PlannedSource[], writers: RecordWriters): Promise<Write[]> {
  const { applier, signal } = writers;
  const turns = new Turns();
  const writes: Write[] = [];
  for (const { source, desired, live } of sources) {
    await turns.give();
    signal?.throwIfAborted();
    if (desired === undefined || applier.isUpToDate(DNS_ENDPOINTS, desired, live)) continue;
    writes.push({
      key: endpointKeyOf(source),
      gains: difference(desired, live),
      loses: difference(live, desired),
      write: () => applyOne(desired, live, writers),
    });
  }
  return writes;
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
  /** Number of writes that did not begin. */
  left: number;
}

async function writeAll(writes: readonly Write[], outcome: Outcome, { signal, clock }: RecordWriters): Promise<void> {
  const { written, failures, overtaken, missing } = outcome;
  const end = clock.monotonic() + ROUND_MS;
  const fairly = inTurns(writes, ({ key }) => refOfKey(key).namespace ?? '');
  const turns = new Turns();
  await forEachAtOnce(fairly, WRITES_AT_ONCE, async ({ key, gains, loses, write }) => {
    // A remembered refusal makes no call to the API server, which would yield to the event loop.
    await turns.give();
    signal?.throwIfAborted();
    if (clock.monotonic() >= end) {
      outcome.left++;
      for (const host of gains) missing.add(host);
      return;
    }
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
  desired: DnsEndpoint,
  live: DnsEndpoint | undefined,
  { applier, endpoints, signal }: RecordWriters,
): Promise<boolean> {
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
