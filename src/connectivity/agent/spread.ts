import { createHash } from 'node:crypto';

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

/** From 0 to 1, the same for the same name. */
function shareOf(podName: string): number {
  return createHash('sha256').update(podName).digest().readUInt32BE() / 2 ** 32;
}
