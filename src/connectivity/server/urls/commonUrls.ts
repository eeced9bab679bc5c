import type { UrlResults } from './failingAgents.ts';

/** More agents than this share of those with results request a URL that is common. */
const LEAST_SHARE = 0.25;

/**
 * The URLs that many agents request: that of the server, and those of `-probeurls`, which the server does not know. A
 * DaemonSet has the same for all of its agents. A URL that only a few agents report may be made up, a new one in each
 * report, and each would be a new series. There are few common ones however many are reported: an agent has 256 results at
 * most, and each common URL takes a quarter of the agents.
 *
 * @param agents results of each agent
 */
export function commonUrls(agents: Iterable<UrlResults>): ReadonlySet<string> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const results of agents) {
    if (results.length > 0) total += 1;
    for (const url of new Set(results.map(({ URL }) => URL))) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([url, count]) => (count > total * LEAST_SHARE ? [url] : [])));
}
