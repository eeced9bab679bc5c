import type { TransportRequest } from './transport/types.ts';

/** Maximum of failures in the message of an IncompleteError: there may be one for each node. */
const NAMED_FAILURES = 3;

/** Details of the rejected request and its response. */
interface ApiErrorOptions {
  /** HTTP status code. */
  status: number;
  /** The machine-readable reason of the Status ("NotFound", "Conflict", "Expired"), or one derived from the code. */
  reason: string;
  /** The message of the Status, already shortened; never any other part of a response body. */
  detail?: string;
  /** The Retry-After of the response, in milliseconds. */
  retryAfterMs?: number;
  /** 'GET', 'PATCH', ... */
  method: string;
  /** Path of the request, without its query. */
  path: string;
  /** status.details.causes: the wrong fields and the reasons. */
  causes?: readonly StatusCause[];
}

/** One entry of a Status' details.causes. */
interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The API server rejected a request. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** The message of the server; '' if there was none. */
  readonly detail: string;
  readonly retryAfterMs?: number;
  readonly method: string;
  readonly path: string;
  readonly causes: readonly StatusCause[];

  constructor(options: ApiErrorOptions) {
    const { status, reason, detail = '', method, path } = options;
    super(`${method} ${path}: ${status} ${reason}${detail === '' ? '' : `: ${detail}`}`);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.detail = detail;
    this.method = method;
    this.path = path;
    this.causes = options.causes ?? [];
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}

/** Why there was no valid response. */
export type TransportFailure =
  /** No connection, or it broke. */
  | 'connection'
  /** The attempt's or the call's deadline passed. */
  | 'deadline'
  /** The caller or the shutdown cancelled it. */
  | 'aborted'
  /** The response could not be parsed. */
  | 'garbage';

/** There was no valid response of the API server. `cause` is the underlying error. */
export class TransportError extends Error {
  readonly failure: TransportFailure;
  /** True if the request certainly did not reach the server, so that every request can be retried. */
  readonly unsent: boolean;

  constructor(message: string, options: { failure: TransportFailure; unsent?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'TransportError';
    this.failure = options.failure;
    this.unsent = options.unsent ?? false;
  }
}

/** This process refused a write because it does not, or no longer, lead. */
export class NotLeaderError extends Error {
  constructor(message = 'not the leader: nothing is written') {
    super(message);
    this.name = 'NotLeaderError';
  }
}

/** A retry cannot succeed until the object changes: no retry. */
export class TerminalError extends Error {
  /** CamelCase, for a condition and an event. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
    this.reason = reason;
  }
}

/** Not a failure: the reconcile waits for something. Retry after `retryAfterMs`. Not counted as an error. */
export class WaitingError extends Error {
  /** CamelCase, for a condition and an event. */
  readonly reason: string;
  readonly retryAfterMs: number;

  constructor(reason: string, message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WaitingError';
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Writes failed, and the status of the object reports them: try again with backoff. */
export class IncompleteError extends Error {
  /** The reason of the first failure, CamelCase. */
  readonly reason: string;
  /** The longest delay that the API server asked for, ms; 0 if it asked for none. */
  readonly retryAfterMs: number;

  /** @param failures with the delay that the API server asked for, ms */
  constructor(failures: readonly { reason: string; message: string; retryAfterMs?: number }[]) {
    const messages = failures.map(({ message }) => message);
    super(messages.slice(0, NAMED_FAILURES).join('; '));
    this.name = 'IncompleteError';
    this.reason = failures[0]?.reason ?? '';
    this.retryAfterMs = failures.reduce((longest, { retryAfterMs = 0 }) => Math.max(longest, retryAfterMs), 0);
  }
}

/** A failure that is expected to be fixed after `retryAfterMs`: retry then, without backoff, or later if the API server asks for that in `cause`. */
export class RetryError extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RetryError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** True for 403: a right is missing, or admission rejects the request; `detail` names the cause. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/** True for 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** True for 409: another client wrote first, or the object already exists. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/** True for 410: the resource version or continue token is too old. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** True for 400, 413 and 422: the API server rejects the object, and would reject it at every retry. */
export function isInvalid(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 413 || error.status === 422);
}

/** The used part of metav1.Status. */
export interface Status {
  kind?: string;
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number; causes?: StatusCause[] };
}

/** Limit of a message, in characters. A message names the problem at its start. */
const LONGEST_MESSAGE = 1_000;

/** The parts of an ApiError besides the Status. */
export interface Refusal {
  request: TransportRequest;
  status: number;
  retryAfter?: string | string[] | undefined;
  /** Wall clock, for a Retry-After with a date. */
  now: number;
}

/**
 * The message of a server-side apply whose object does not match the schema of its kind. The API server sends it as a
 * 500 (https://github.com/kubernetes/kubernetes/issues/139253). A retry would fail again.
 */
const DOES_NOT_FIT_SCHEMA = ['failed to create typed patch object ', 'failed to convert new object '];
/** etcd's message for an object above --max-request-bytes, 1.5 MiB by default. The API server also sends it as a 500. */
const TOO_LARGE_FOR_ETCD = 'etcdserver: request is too large';

/** Returns the error for a response of 300 and above. Ignores `body` unless it is a Status. */
export function apiErrorOf(refusal: Refusal, body: string): ApiError {
  return errorOfStatus(refusal, parseStatus(body));
}

/** Returns the error for a Status, for example from an ERROR event of a watch. */
export function errorOfStatus({ request, status, retryAfter, now }: Refusal, answer: Status): ApiError {
  const seconds = answer.details?.retryAfterSeconds;
  const retryAfterMs = parseRetryAfter(retryAfter, now) ?? (seconds ? seconds * 1000 : undefined);
  const final = status === 500 ? finalRefusal(answer.message ?? '') : undefined;
  if (final) return errorOfStatus({ request, status: final.status, now }, { ...answer, reason: final.reason });
  return new ApiError({
    status,
    reason: answer.reason !== undefined && answer.reason !== '' ? answer.reason : `HTTP${status}`,
    detail: shorten(answer.message ?? ''),
    method: request.method,
    path: request.path,
    causes: answer.details?.causes ?? [],
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Returns the actual status code of a 500 that a retry would get again. */
function finalRefusal(message: string): { status: number; reason: string } | undefined {
  if (DOES_NOT_FIT_SCHEMA.some((words) => message.startsWith(words))) return { status: 400, reason: 'BadRequest' };
  if (message.includes(TOO_LARGE_FOR_ETCD)) return { status: 413, reason: 'RequestEntityTooLarge' };
  return undefined;
}

function parseStatus(body: string): Status {
  try {
    const answer = JSON.parse(body) as Status | null;
    return answer?.kind === 'Status' ? answer : {};
  } catch {
    // The page of a proxy, or nothing: only the code is useful.
    return {};
  }
}

function shorten(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE).toWellFormed()}…`;
}

/**
 * Reads a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now wall clock, milliseconds since 1970
 * @returns milliseconds from now, at least 0; undefined if the header is absent or invalid
 */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(at - now, 0);
}
