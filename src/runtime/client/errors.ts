/** How many failures an IncompleteError names: there may be one for each node. */
const NAMED_FAILURES = 3;

/** What an ApiError knows of the refused request and its answer. */
export interface ApiErrorOptions {
  /** HTTP status code. */
  status: number;
  /** The machine-readable reason of the Status ("NotFound", "Conflict", "Expired"), or one made of the code. */
  reason: string;
  /** The message of the Status, already shortened; never any other part of a response body. */
  detail?: string;
  /** What the server asked for by Retry-After, in milliseconds. */
  retryAfterMs?: number;
  /** 'GET', 'PATCH', ... */
  method: string;
  /** Path of the request, without its query. */
  path: string;
  /** status.details.causes: which field is wrong, and why. */
  causes?: readonly StatusCause[];
}

/** One entry of a Status' details.causes. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The API server answered, and the answer is no. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** The server's own words, '' when it gave none. */
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

/** Why there was no answer. */
export type TransportFailure =
  /** No connection, or it broke. */
  | 'connection'
  /** The attempt's or the call's deadline passed. */
  | 'deadline'
  /** The caller, or shutdown, called it off. */
  | 'aborted'
  /** An answer came that cannot be understood. */
  | 'garbage';

/** The API server gave no answer that could be understood. `cause` is what went wrong beneath. */
export class TransportError extends Error {
  readonly failure: TransportFailure;
  /** True when the request surely never reached the server, so that anything may be sent again. */
  readonly unsent: boolean;

  constructor(message: string, options: { failure: TransportFailure; unsent?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'TransportError';
    this.failure = options.failure;
    this.unsent = options.unsent ?? false;
  }
}

/** A write was refused here because this process does not, or no longer, lead. */
export class NotLeaderError extends Error {
  constructor(message = 'not the leader: nothing is written') {
    super(message);
    this.name = 'NotLeaderError';
  }
}

/** Nothing to be done until the object changes: no retry. */
export class TerminalError extends Error {
  /** CamelCase, for a condition and an event. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
    this.reason = reason;
  }
}

/** Not a failure: something is awaited, look again after `retryAfterMs`. Not counted as an error. */
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
  /** CamelCase, that of the first failure. */
  readonly reason: string;

  constructor(failures: readonly { readonly reason: string; readonly message: string }[]) {
    const messages = failures.map(({ message }) => message);
    super(messages.slice(0, NAMED_FAILURES).join('; '));
    this.name = 'IncompleteError';
    this.reason = failures[0]?.reason ?? '';
  }
}

/** A failure whose cure is known to take `retryAfterMs`: look again then, without backoff. */
export class RetryError extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RetryError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** True for the API server's 403: a right is missing, or admission refuses; `detail` says which. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

/** True for the API server's 404. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** True for the API server's 409: somebody else wrote first, or the object exists already. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

/** True for 410: the resource version or continue token asked for is too old to be had. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** True when the API server refuses the object as it is (400, 413, 422) and would again, however often it is sent. */
export function isInvalid(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 413 || error.status === 422);
}
