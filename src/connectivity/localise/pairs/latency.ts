import type { AgentView } from '../view.ts';

/**
 * How slow a pair has to be, compared with the median round trip of all pairs. Busy nodes delay single pairs by a few times
 * the median, and pairs of distant sites are slower than others all the time.
 */
const TIMES_MEDIAN = 5;
/** No pair below is slow, ms: the longest distances on earth take 300 ms over cables. */
export const LEAST_SLOW_MS = 300;
/** Each pair above is slow, ms, also if most are: satellites take 600 to 700 ms. In a small cluster one node is most pairs. */
export const MOST_SLOW_MS = 800;

/** Returns the round trip from which on a pair is slow, ms. Undefined without a round trip. */
export function slowFrom(agents: readonly AgentView[]): number | undefined {
  const times = agents.flatMap(({ peers }) => peers.flatMap(({ udp }) => udp.ms ?? []));
  const sorted = Float64Array.from(times).sort();
  const median = sorted[sorted.length >> 1];
  if (median === undefined) return undefined;
  return Math.min(MOST_SLOW_MS, Math.max(LEAST_SLOW_MS, TIMES_MEDIAN * median));
}
