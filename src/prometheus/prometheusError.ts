/**
 * Why a query failed:
 *
 * | Reason           | Cause |
 * |------------------|-------|
 * | Unreachable      | no connection, TLS failed, or the connection closed too early |
 * | Deadline         | no complete answer in time |
 * | Unauthorized     | HTTP 401 or 403 |
 * | BadStatus        | any other HTTP status without an error of the Prometheus API |
 * | BadAnswer        | the answer does not conform to the Prometheus API |
 * | TooLarge         | the answer exceeds the size limit |
 * | QueryFailed      | Prometheus reports that the query failed |
 * | BadConfiguration | a password, token or CA file cannot be read, or a setting is invalid |
 */
type PrometheusErrorReason =
  | 'Unreachable'
  | 'Deadline'
  | 'Unauthorized'
  | 'BadStatus'
  | 'BadAnswer'
  | 'TooLarge'
  | 'QueryFailed'
  | 'BadConfiguration';

/** A failed query. The message contains no secret, and no part of the body except the error message of Prometheus. */
export class PrometheusError extends Error {
  readonly reason: PrometheusErrorReason;

  constructor(reason: PrometheusErrorReason, message: string) {
    super(message);
    this.name = 'PrometheusError';
    this.reason = reason;
  }
}
