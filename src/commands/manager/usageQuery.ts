import type { UsageQuery } from '../../usage/pass/queries.ts';
import type { ManagerOptions } from './options.ts';

/** What runs in the cluster, as far as it is known. */
export interface Running {
  /** Of the Prometheus that a TrafficStack uses in place of that of the operator. */
  readonly usedUrl: () => string | undefined;
  /** Of the Prometheus of the operator: seconds. A TrafficStack may have another one than the flags. */
  readonly scrapeIntervalSeconds: () => number | undefined;
}

/**
 * Returns the settings of each pass:
 *
 * | Prometheus                             | Settings                                          |
 * |----------------------------------------|---------------------------------------------------|
 * | of the operator, scraping as the flags | those of the flags                                |
 * | of the operator, scraping otherwise    | the same, for that scrape interval                |
 * | one that the flags name                | those of the flags                                |
 * | one that a TrafficStack uses           | those for a Prometheus whose interval is not known |
 *
 * It is another object for each Prometheus and each interval, so that nothing of one counts for another.
 */
export function usageQuery(
  { query, queryAt, otherQuery }: Pick<ManagerOptions, 'query' | 'queryAt' | 'otherQuery'>,
  { usedUrl, scrapeIntervalSeconds }: Running,
): () => UsageQuery {
  const other = lastOf<string, UsageQuery>(() => ({ ...otherQuery }));
  const own = lastOf(queryAt);
  return () => {
    const url = usedUrl();
    if (url !== undefined) return other(url);
    // Without it, the flags name a Prometheus, and the operator deploys none.
    if (query.scrapeIntervalSeconds === undefined) return query;
    const seconds = scrapeIntervalSeconds() ?? query.scrapeIntervalSeconds;
    return seconds === query.scrapeIntervalSeconds ? query : own(seconds);
  };
}

/** Calls a function again only for another key than last time. */
function lastOf<K, V>(make: (key: K) => V): (key: K) => V {
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last === undefined || last.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}
