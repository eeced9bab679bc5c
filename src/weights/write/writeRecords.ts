import type { Applier } from '../../runtime/apply/apply.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { ApiError, isConflict, NotLeaderError, TransportError, WaitingError } from '../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../runtime/client/resource.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { LinkedAbort } from '../../runtime/async/deadline.ts';
import { forEachFairly } from '../../runtime/async/limit.ts';
import { Turns } from '../../runtime/process/turns.ts';
import { DNS_ENDPOINTS, hostsIn, type DnsEndpoint } from '../records/endpoint.ts';
import { endpointKeyOf } from '../records/source.ts';
import type { PlannedSource, RecordsPlan } from '../plan/plan.ts';

/** Most writes in parallel: fewer than the transport allows, so that the write of a status does not wait for thousands of records. */
const WRITES_AT_ONCE = 12;
/** A namespace with fewer comes first; all namespaces together whose writes hung in the last round have at most this. */
const SHARE = 3;
/**
 * The time after which a phase of a call begins no further write: ms. The next plan has the newest changes of all namespaces, so a
 * change waits for this time and the last calls at most three times (three phases), whatever other namespaces change.
 */
export const ROUND_MS = 5_000;
/** How much later the writes that hang are cancelled: the last ones that began have this time. */
export const LAST_CALLS_MS = 1_000;
/** A cancelled write that began this long ago hangs; a later one is left for the next round. */
const HANGS_MS = 2_000;
/** The transport ends every write before: ms. */
const LONGEST_MS = 60_000;

export interface RecordWriters {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Pick<Applier, 'apply' | 'isUpToDate'>;
  readonly clock: Clock;
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
  /** Keys of the DNSEndpoints without their desired state: their write failed or did not begin, or another client was faster. */
  readonly unwritten: ReadonlySet<string>;
  /** Namespaces whose writes hung while others were answered: the one that was tried least recently first. */
  readonly slow: ReadonlySet<string>;
  /** A DNSEndpoint that another client wrote since it was read, if nothing failed: plan again. */
  readonly overtaken?: string;
}

/** The result of earlier rounds. */
export interface Before extends Pick<Written, 'slow'> {
  /** Keys of writes that failed: they come last in their namespace, so that they keep out no other. */
  readonly failed: ReadonlySet<string>;
}

export const NOTHING_BEFORE: Before = { failed: new Set(), slow: new Set() };

/**
 * Applies and removes the DNSEndpoints of a plan, in parallel, namespaces in turn, for a limited time. Writes only differences. A
 * failed write does not stop the other writes. Logs the written DNSEndpoints in one line. A host that moves between DNSEndpoints is
 * first added to the new one, and removed from the old one only if that succeeded. An exchange of hosts between two DNSEndpoints is
 * not ordered. Writes that hang are cancelled with the round, if others were answered: their namespace is the cause, such as by an admission
 * webhook. While none is answered, the API server may be slow, and the writes have the time that the transport gives them.
 *
 * @throws NotLeaderError; the reason of `signal` if it was aborted
 */
export async function writeRecords(
  { sources, removed, remaining = [] }: Pick<RecordsPlan, 'sources' | 'removed'> & Partial<RecordsPlan>,
  writers: RecordWriters,
  before: Before = NOTHING_BEFORE,
): Promise<Written> {
  const planned = sources.map(({ source, ...each }) => ({ ...each, key: endpointKeyOf(source) }));
  const applies = await appliesOf([...planned, ...remaining], writers);
  const removals = removed.map((endpoint): Write => ({
    ...{ key: keyOf(endpoint), gains: [], loses: hostsIn(endpoint.spec?.endpoints) },
    write: (signal) => removeOne(endpoint, writers, signal),
  }));
  const all = [...applies, ...removals];
  const writes = [
    ...all.filter(({ key }) => !before.failed.has(key)),
    ...all.filter(({ key }) => before.failed.has(key)),
  ];
  const namespaces = new Set(writes.map(({ key }) => namespaceOf(key)));
  const outcome: Outcome = {
    ...{
      written: [],
      failures: new Map(),
      overtaken: new Set(),
      missing: new Set(),
      left: new Set(),
      hanging: new Set(),
    },
    slow: new Set([...before.slow].filter((namespace) => namespaces.has(namespace))),
  };
  try {
    for (const phase of inOrder(writes)) await writeAll(phase, outcome, writers);
  } finally {
    logWritten(outcome, writers.logger);
  }
  const { written, failures, overtaken, left, slow } = outcome;
  const [one] = failures.size > 0 ? [] : overtaken;
  const unwritten = new Set([...failures.keys(), ...left, ...overtaken]);
  const counts = { written: written.length, left: left.size };
  return { ...counts, failures, unwritten, slow, ...(one !== undefined && { overtaken: one }) };
}

interface Write {
  readonly key: string;
  /** Hosts that the DNSEndpoint gets. */
  readonly gains: readonly string[];
  /** Hosts that the DNSEndpoint loses. */
  readonly loses: readonly string[];
  /** @returns false if no write was necessary */
  readonly write: (signal: AbortSignal) => Promise<boolean>;
}

/** Returns the necessary applies. Most DNSEndpoints need none, so that no call to the API server yields to the event loop. */
async function appliesOf(
  changes: readonly ({ readonly key: string } & Pick<PlannedSource, 'desired' | 'live'>)[],
  writers: RecordWriters,
): Promise<Write[]> {
  const { applier, signal } = writers;
  const turns = new Turns();
  const writes: Write[] = [];
  for (const { key, desired, live } of changes) {
    await turns.give();
    signal?.throwIfAborted();
    if (desired === undefined || applier.isUpToDate(DNS_ENDPOINTS, desired, live)) continue;
    writes.push({
      key,
      gains: difference(desired, live),
      loses: difference(live, desired),
      write: (signal) => applyOne(desired, live, writers, signal),
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
  /** Writes that did not begin. */
  readonly left: Set<string>;
  /** The namespaces whose writes hung in this round. */
  readonly hanging: Set<string>;
  /** The same, and the slow namespaces of earlier rounds of which no write has ended since. */
  readonly slow: Set<string>;
}

function namespaceOf(key: string): string {
  return refOfKey(key).namespace ?? '';
}

/** Returns the writes, the writes of slow namespaces last, in the order of the namespaces. */
function slowLast(writes: readonly Write[], slow: ReadonlySet<string>): Write[] {
  const ranks = new Map([...slow].map((namespace, index) => [namespace, index + 1]));
  const rankOf = ({ key }: Write): number => ranks.get(namespaceOf(key)) ?? 0;
  return writes.toSorted((one, other) => rankOf(one) - rankOf(other));
}

async function writeAll(writes: readonly Write[], outcome: Outcome, { signal, clock }: RecordWriters): Promise<void> {
  const end = clock.monotonic() + ROUND_MS;
  const slow = new Set(outcome.slow);
  const writtenBefore = outcome.written.length;
  /** Running writes of namespaces that are not slow. */
  let others = 0;
  const round = new LinkedAbort([signal], { clock, timeoutMs: LONGEST_MS });
  const timer = clock.setTimeout(() => {
    if (outcome.written.length > writtenBefore || others === 0) round.abort();
  }, ROUND_MS + LAST_CALLS_MS);
  const turns = new Turns();
  const shares = {
    ...{ atOnce: WRITES_AT_ONCE, share: SHARE },
    groupOf: ({ key }: Write) => namespaceOf(key),
    isSlow: (namespace: string) => slow.has(namespace),
  };
  try {
    await forEachFairly(slowLast(writes, slow), shares, async (write) => {
      // A remembered refusal makes no call to the API server, which would yield to the event loop.
      await turns.give();
      signal?.throwIfAborted();
      if (clock.monotonic() >= end) {
        leave(write, outcome);
        return;
      }
      const step = slow.has(namespaceOf(write.key)) ? 0 : 1;
      others += step;
      await writeOne(write, outcome, { clock, signal: round.signal, stop: signal });
      others -= step;
    });
  } finally {
    timer.cancel();
    round.release();
  }
}

function leave({ key, gains }: Write, outcome: Outcome): void {
  outcome.left.add(key);
  for (const host of gains) outcome.missing.add(host);
}

interface Call extends Pick<RecordWriters, 'clock'> {
  /** Aborted with the round. */
  readonly signal: AbortSignal;
  /** Aborted if nothing is to be written any longer. */
  readonly stop: AbortSignal | undefined;
}

async function writeOne(one: Write, outcome: Outcome, { clock, signal, stop }: Call): Promise<void> {
  const { key, gains, loses, write } = one;
  const { written, failures, overtaken, missing, slow, hanging } = outcome;
  const began = clock.monotonic();
  const namespace = namespaceOf(key);
  try {
    if (loses.some((host) => missing.has(host))) gains.forEach((host) => missing.add(host));
    else if (await write(signal)) {
      written.push(key);
      if (!hanging.has(namespace)) slow.delete(namespace);
    }
  } catch (error) {
    if (error instanceof NotLeaderError) throw error;
    const lastedMs = clock.monotonic() - began;
    const isCancelled = signal.aborted && stop?.aborted !== true && !(error instanceof ApiError);
    if (isCancelled && lastedMs < HANGS_MS) {
      leave(one, outcome);
      return;
    }
    if (error instanceof WaitingError || isConflict(error)) overtaken.add(key);
    else failures.set(key, isCancelled ? hangs(lastedMs) : error);
    for (const host of gains) missing.add(host);
    if (!isCancelled) return;
    hanging.add(namespace);
    // The namespace that was tried least recently is the next to be tried.
    slow.delete(namespace);
    slow.add(namespace);
  }
}

function hangs(lastedMs: number): TransportError {
  const message = `no answer within ${Math.round(lastedMs / 1_000)} s, while other namespaces are written: check the admission webhooks`;
  return new TransportError(message, { failure: 'deadline' });
}

async function applyOne(
  desired: DnsEndpoint,
  live: DnsEndpoint | undefined,
  { applier, endpoints }: RecordWriters,
  signal: AbortSignal,
): Promise<boolean> {
  // Takes over no DNSEndpoint that another client has created since the plan.
  const call = { takesNothingOver: true, createsByApply: true, signal };
  const { written, object } = await applier.apply(DNS_ENDPOINTS, desired, live, call);
  if (written) endpoints.wrote(object);
  return written;
}

/** Deletes the DNSEndpoint only in the version of the plan: if it was changed or created again, the next plan decides. */
async function removeOne(endpoint: DnsEndpoint, { client }: RecordWriters, signal: AbortSignal): Promise<boolean> {
  const { uid, resourceVersion } = endpoint.metadata ?? {};
  const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
  await client.delete(DNS_ENDPOINTS, refOfKey(keyOf(endpoint)), { preconditions, signal });
  return true;
}
