/** A problem that blocks a controller, for logs, events and conditions. */
export interface Problem {
  /** CamelCase. */
  readonly reason: string;
  /** Kind and name of the affected object, for messages: 'Service ops/prometheus'. */
  readonly object: string;
  readonly message: string;
}

/** A write that did not succeed, as a condition reports it. The rest of the plan was carried out all the same. */
export interface Failure {
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** True if a missing right, a quota or admission refuses the write, so that only people can help. */
  readonly isRefused?: true;
  /** The delay that the API server asked for before the next try: ms. */
  readonly retryAfterMs?: number;
}
