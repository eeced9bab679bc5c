/** The agents that do not report, by the names of their pods, sorted. */
export interface Missing {
  /** Pods without a report. */
  readonly absent: readonly string[];
  /** Pods whose last report is too old. */
  readonly outdated: readonly string[];
}

const FAILS = 'Connectivity check fails. Reason: there are absent or outdated pods; look up the payload';

/**
 * The answer of `/api/v1/connectivity_check`, in the words of the original server. A list without entries is null. (In
 * a failed check the original sent `[]` for one of the lists with one of its stores, and null with the other.)
 *
 * @param expected number of agents that must report
 */
export function checkAnswer({ absent, outdated }: Missing, expected: number): { status: 200 | 400; body: object } {
  const isFailed = absent.length > 0 || outdated.length > 0;
  return {
    status: isFailed ? 400 : 200,
    body: {
      Message: isFailed ? FAILS : `All ${expected} pods successfully reported back to the server`,
      Absent: absent.length > 0 ? absent : null,
      Outdated: outdated.length > 0 ? outdated : null,
    },
  };
}

/** The text of a check that could not be made, with status 500. */
export function checkError(details: string): string {
  return `Error occurred while checking the agents. Details: ${details}\n`;
}
