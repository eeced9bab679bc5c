import { createHash } from 'node:crypto';
import type { Assignment } from '../protocol/measurement.ts';

/** The first report comes soon, so that a new agent is not absent for a whole interval. */
const FIRST_WITHIN_MS = 5_000;

/** The pause before the first report, ms: different for each pod, so that a rollout is no burst. */
export function firstDelayMs(podName: string, intervalMs: number): number {
  return Math.floor(shareOf(podName) * Math.min(FIRST_WITHIN_MS, intervalMs / 2));
}

/**
 * The pause until the next report, ms. Each pod has its own moment within the interval, so that the reports of all agents
 * are spread over it. The pause is from half an interval to one and a half.
 *
 * @param now wall clock, ms
 */
export function nextDelayMs(podName: string, intervalMs: number, now: number): number {
  const moment = Math.floor(shareOf(podName) * intervalMs);
  const untilMs = (((moment - now) % intervalMs) + intervalMs) % intervalMs;
  return untilMs < intervalMs / 2 ? untilMs + intervalMs : untilMs;
}

/** A server that is not there yet is soon there: the first pause after a failure. */
const FIRST_RETRY_MS = 2_000;

/**
 * The pause after a report that did not get through, ms: doubled with each failure in a row, never longer than until the
 * next report. It is different for each pod, since all of them notice that the server is away.
 *
 * @param failures in a row, at least 1
 */
export function retryDelayMs(podName: string, failures: number, nextMs: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (failures - 1) * (0.5 + shareOf(podName)), nextMs);
}

/** Returns a share from 0 to 1, the same for the same name. */
function shareOf(podName: string): number {
  return createHash('sha256').update(podName).digest().readUInt32BE() / 2 ** 32;
}

/** Runs before the regular moment, after the start of a process: the last pause is then about 20 s. */
const MOST_EARLY_RUNS = 5;
const FIRST_EARLY_MS = 1_300;

/**
 * Lets a new agent measure its peers soon, and not one or two intervals later. The server assigns peers that it knows,
 * so the first assignments in a new cluster are incomplete.
 *
 * | last assignment | pause |
 * |---|---|
 * | has peers that were not measured yet, or none at all | 1 to 2 s, then doubled: up to MOST_EARLY_RUNS times |
 * | all peers were measured, or the early runs are used up | until the regular moment |
 */
export class EarlyRuns {
  readonly #measured = new Set<string>();
  #used = 0;

  /** Remembers the peers of an assignment. Call it when they are measured. */
  measured({ peers }: Assignment): void {
    if (this.#used >= MOST_EARLY_RUNS) return;
    for (const { node } of peers) this.#measured.add(node);
  }

  /** The pause until the next run. @param regularMs until the regular moment of this agent */
  delayMs(podName: string, { peers }: Assignment, regularMs: number): number {
    const isComplete = peers.length > 0 && peers.every(({ node }) => this.#measured.has(node));
    if (isComplete || this.#used >= MOST_EARLY_RUNS) return regularMs;
    const early = FIRST_EARLY_MS * 2 ** this.#used * (0.75 + shareOf(podName) * 0.75);
    this.#used += 1;
    return Math.min(early, regularMs);
  }
}
