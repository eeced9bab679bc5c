import { ApiError } from '../errors.ts';
import type { StatusCause } from '../errors.ts';
import { parseRetryAfter } from './retry.ts';
import type { TransportRequest } from './types.ts';

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
