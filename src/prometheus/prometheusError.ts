/**
 * Why there is no answer:
 *
 * | Reason           | What happened |
 * |------------------|---------------|
 * | Unreachable      | no connection, TLS refused, or broken off midway |
 * | Deadline         | no whole answer in time |
 * | Unauthorized     | HTTP 401 or 403 |
 * | BadStatus        | any other HTTP status without an error of the Prometheus API |
 * | BadAnswer        | not what the Prometheus API promises |
 * | TooLarge         | the answer goes beyond the limit |
 * | QueryFailed      | Prometheus says that the query failed |
 * | BadConfiguration | a password, token or CA file can't be read, or a setting makes no sense |
 */
export type PrometheusErrorReason =
  | 'Unreachable'
  | 'Deadline'
  | 'Unauthorized'
  | 'BadStatus'
  | 'BadAnswer'
  | 'TooLarge'
  | 'QueryFailed'
  | 'BadConfiguration';

/** A question that got no usable answer. The message holds no secret, and of an answer's body at most Prometheus' own error. */
export class PrometheusError extends Error {
  readonly reason: PrometheusErrorReason;

  constructor(reason: PrometheusErrorReason, message: string) {
    super(message);
    this.name = 'PrometheusError';
    this.reason = reason;
  }
}
