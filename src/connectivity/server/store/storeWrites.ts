import type { Report } from '../../../api/agent/report.ts';
import type { AgentState } from '../reports/reports.ts';

/** The last write of an agent. */
export interface Written {
  /** `contentsOf` its report, or a hash of it. */
  readonly contents: string;
  /** Monotonic, ms. */
  readonly at: number;
}

/** Why an agent must be written. Contents come before times. */
export type WriteNeed = 'contents' | 'times';

/**
 * Decides whether a report must be written:
 *
 * | last written | result |
 * |---|---|
 * | never, or with other contents | contents |
 * | half a TTL ago, or earlier | times |
 * | else | nothing |
 *
 * @param contents in the form of `written`
 * @param now monotonic, ms
 */
export function writeNeed(
  contents: string,
  written: Written | undefined,
  now: number,
  halfTtlMs: number,
): WriteNeed | undefined {
  if (written?.contents !== contents) return 'contents';
  return now - written.at >= halfTtlMs ? 'times' : undefined;
}

/**
 * Returns the parts of a report whose change causes a write, as one text: all fields except times, durations and counters
 * that grow in every report; and whether it came without a token.
 */
export function contentsOf({ report, anonymous = false }: Pick<AgentState, 'report' | 'anonymous'>): string {
  const { report_interval, nodename, podname, nslookup, network_probes, ips } = report;
  const probes = network_probes?.map(({ URL, ConnectionResult, HTTPCode }) => [URL, ConnectionResult, HTTPCode]);
  return JSON.stringify([report_interval, nodename, podname, sorted(nslookup), probes, ips, anonymous]);
}

/** Sorts the addresses of each name, since DNS servers rotate them. */
function sorted(addresses: Report['nslookup']): unknown {
  return Object.entries(addresses ?? {}).map(([name, list]) => [name, [...(list ?? [])].sort()]);
}

/**
 * A new agent, or one whose last report failed, reports more often than once in each interval: this often, at most. See
 * `EarlyRuns` of the agent.
 */
const EARLY_REPORTS = 5;

/**
 * The reports that an agent sent since its counters were written, which the store does not have: at most one for each
 * interval and the early ones, and at most one per second. Too many are assumed rather than too few: counters must not
 * fall, or Prometheus would take their whole value for new.
 *
 * | written, by the clock of now | reports |
 * |---|---|
 * | at no known time | 0 |
 * | in the past | the most of the time since then, or of the longest gap if that is shorter |
 * | in the future: the clock went back | the most of the longest gap |
 *
 * @param now wall clock, ms
 * @param longestGapMs see `longestGapMs`
 */
export function unwrittenReports({ report_interval, last_updated }: Report, now: number, longestGapMs: number): number {
  const sinceMs = now - Date.parse(last_updated ?? '');
  if (Number.isNaN(sinceMs)) return 0;
  const gapMs = sinceMs < 0 ? longestGapMs : Math.min(sinceMs, longestGapMs);
  return Math.min(Math.ceil(gapMs / (report_interval * 1_000)) + EARLY_REPORTS, Math.ceil(gapMs / 1_000));
}

/**
 * The longest time between two writes of the same agent, ms: half a TTL, or the time that a write of all agents takes.
 *
 * @param agents number of stored agents
 */
export function longestGapMs(
  agents: number,
  { halfTtlMs, mostAtOnce, paceMs }: { halfTtlMs: number; mostAtOnce: number; paceMs: number },
): number {
  return Math.max(halfTtlMs, Math.ceil(agents / mostAtOnce) * paceMs);
}

/**
 * Returns how long the store must keep an agent from one write to the next, seconds. The next write follows the first report
 * after half a TTL. This report may be late by an interval, and its write may wait for as long.
 */
export function keptSeconds({ report_interval }: Report, ttlMs: number): number {
  return Math.ceil(Math.max(ttlMs, ttlMs / 2 + 2 * report_interval * 1_000) / 1_000);
}
