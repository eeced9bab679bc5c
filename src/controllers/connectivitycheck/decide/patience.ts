import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { DEFAULT_INTERVAL } from '../../../api/connectivitycheck/terms.ts';
import { durationMs } from '../../../api/fieldSchemas.ts';

/** The longest time until a silent server is a finding, for checks with long intervals, ms. */
const LONGEST_SILENCE_MS = 120_000;
/** A server that has just started waits for agents this long, or two intervals if they are longer, and 5 s in addition: ms. */
const LEAST_GRACE_MS = 60_000;
/** These 5 s, and the longest time between two requests to the server: ms. */
const LACK_SLACK_MS = 10_000;

/** The interval of a check, ms. */
export function intervalMs({ spec }: Pick<ConnectivityCheck, 'spec'>): number {
  return durationMs(spec?.interval ?? DEFAULT_INTERVAL);
}

/**
 * Returns how long the server may be silent before that is a finding, ms: two intervals, at most two minutes. A server that
 * is replaced, by an upgrade or because its node is drained, answers again within this time.
 */
export function silenceLimitMs(check: ConnectivityCheck): number {
  return Math.min(2 * intervalMs(check), LONGEST_SILENCE_MS);
}

/** Returns how long answers may lack a check before its findings are old, ms: longer than a new server waits for agents. */
export function lackLimitMs(check: ConnectivityCheck): number {
  return Math.max(2 * intervalMs(check), LEAST_GRACE_MS) + LACK_SLACK_MS;
}
