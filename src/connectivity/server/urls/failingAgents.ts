import type { Report } from '../../../api/agent/report.ts';

/** From this HTTP status on, a request failed. */
const FIRST_ERROR = 400;

/** The results of one agent. */
export type UrlResults = Readonly<NonNullable<Report['network_probes']>>;

/**
 * Counts the agents for which a URL fails.
 *
 * | result of the last request | counts as |
 * |---|---|
 * | no connection | failing |
 * | a connection, and no response (status 0) | failing |
 * | status of 400 or more | failing |
 * | another status | well |
 * | none, or one without the figures that decide | nothing: it is not known |
 *
 * @param urls of the ConnectivityChecks
 * @param agents with a current report
 * @returns by URL; a URL without a result has no entry
 */
export function failingAgents(urls: ReadonlySet<string>, agents: Iterable<UrlResults>): ReadonlyMap<string, number> {
  const failing = new Map<string, number>();
  for (const results of agents) {
    for (const result of results) {
      const fails = urls.has(result.URL) ? isFailure(result) : undefined;
      if (fails !== undefined) failing.set(result.URL, (failing.get(result.URL) ?? 0) + Number(fails));
    }
  }
  return failing;
}

function isFailure({ ConnectionResult, HTTPCode }: UrlResults[number]): boolean | undefined {
  if (ConnectionResult === 0) return true;
  if (HTTPCode === undefined) return undefined;
  return HTTPCode <= 0 || HTTPCode >= FIRST_ERROR;
}
