/** Something that keeps a controller from its work, for logs, events and conditions. */
export interface Problem {
  /** CamelCase. */
  readonly reason: string;
  /** Which object it is about, for people: 'Service ops/prometheus'. */
  readonly object: string;
  readonly message: string;
}
