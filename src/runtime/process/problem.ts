/** A problem that blocks a controller, for logs, events and conditions. */
export interface Problem {
  /** CamelCase. */
  readonly reason: string;
  /** Kind and name of the affected object, for messages: 'Service ops/prometheus'. */
  readonly object: string;
  readonly message: string;
}
