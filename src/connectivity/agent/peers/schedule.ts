import { MOST_SIZES } from '../udp/mtuSearch.ts';

/** Peer addresses that are probed at the same time: more than the usual ten peers with two addresses each. */
export const CONCURRENCY = 32;

/** Times of the probes of one peer, ms. */
export interface ProbeSchedule {
  readonly tcpMs: number;
  /** Small datagrams in a run. */
  readonly datagrams: number;
  readonly gapMs: number;
  /** From the last small datagram to the end of the run, at least: it waits for late echoes as long as TCP takes. */
  readonly echoWaitMs: number;
  /** For one size of the search for the MTU. */
  readonly mtuStepMs: number;
}

const DATAGRAMS = 20;
const GAP_MS = 10;
/** A SYN that is lost is sent again after 1 s and 3 s. */
const MOST_TCP_MS = 5_000;
const MOST_ECHO_WAIT_MS = 1_000;
const MOST_STEP_MS = 300;
/** A whole run takes less than half of the interval; the rest is for the report. */
const SHARE_OF_INTERVAL = 0.45;

/**
 * Divides the time of a run. The parts of a UDP probe are one after the other: the datagrams, the wait, MOST_SIZES steps.
 *
 * | interval | echoWaitMs | mtuStepMs | all |
 * |---|---|---|---|
 * | 2 s | 270 | 33 | 0.9 s |
 * | 5 s | 675 | 105 | 2.2 s |
 * | 10 s and more | 1,000 | up to 300 | at most 5.1 s |
 *
 * If a datagram is lost, its run also waits for TCP, at most for `tcpMs`. The search for the MTU follows only if TCP has reached the
 * peer: at 15 s, after two lost SYNs, that ends after 6.9 s.
 *
 * @param addresses to probe; more than CONCURRENCY are probed in groups, one after the other
 */
export function probeSchedule(intervalMs: number, addresses: number): ProbeSchedule {
  const groups = Math.max(1, Math.ceil(addresses / CONCURRENCY));
  const allMs = (intervalMs * SHARE_OF_INTERVAL) / groups;
  const gapMs = Math.min(GAP_MS, (allMs * 0.2) / DATAGRAMS);
  const echoWaitMs = Math.min(MOST_ECHO_WAIT_MS, allMs * 0.3);
  const leftMs = allMs - gapMs * (DATAGRAMS - 1) - echoWaitMs;
  const mtuStepMs = Math.min(MOST_STEP_MS, leftMs / MOST_SIZES);
  return { tcpMs: Math.min(MOST_TCP_MS, allMs), datagrams: DATAGRAMS, gapMs, echoWaitMs, mtuStepMs };
}
