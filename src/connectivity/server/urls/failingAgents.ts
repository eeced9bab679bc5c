import type { Report } from '../../../api/agent/report.ts';

/** From this HTTP status on, a request failed. */
const FIRST_ERROR = 400;

/** The results of one agent. */
export type UrlResults = Readonly<NonNullable<Report['network_probes']>>;

/** The URLs that ConnectivityChecks assign to the agent of a report. */
export type AssignedUrls = (report: Pick<Report, 'podname' | 'nodename'>) => readonly string[];

/** The results of one agent, and the URLs that it was assigned. */
export interface AgentUrls {
  readonly results: UrlResults;
  readonly assigned: readonly string[];
}

/**
 * Counts the agents for which a URL fails.
 *
 * | result of the last request | counts as |
 * |---|---|
 * | no connection | failing |
 * | a connection, and no response (status 0) | failing |
 * | status of 400 or more | failing |
 * | another status | well |
 * | none, or one without a status | nothing: it is not known |
 * | of a URL that is not assigned to the agent | nothing: an agent can report any URL |
 *
 * @param agents with a current report
 * @returns by URL; a URL without a result has no entry
 */
export function failingAgents(agents: Iterable<AgentUrls>): ReadonlyMap<string, number> {
  const failing = new Map<string, number>();
  for (const { results, assigned } of agents) {
    // An agent is counted once for a URL, however often it reports it.
    const last = new Map(results.map((result) => [result.URL, result]));
    for (const result of last.values()) {
      const fails = assigned.includes(result.URL) ? isFailure(result) : undefined;
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
