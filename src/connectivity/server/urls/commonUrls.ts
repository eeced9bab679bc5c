import type { UrlResults } from './failingAgents.ts';

/** More agents than this share of those with results request a URL that is common. */
const LEAST_SHARE = 0.25;

/**
 * Returns the URLs that many agents request: the server's URL, and the URLs of `-probeurls`, which the server does not know.
 * All agents of a DaemonSet have the same `-probeurls`. A URL that only a few agents report may be made up, a new one in each
 * report, and each would be a new series. The common URLs are few however many are reported: an agent has 256 results at
 * most, and a quarter of the agents must report each common URL.
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
