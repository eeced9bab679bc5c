import { ApiError } from '../errors.ts';
import type { StatusCause } from '../errors.ts';
import { parseRetryAfter } from './retry.ts';
import type { TransportRequest } from './types.ts';

/** The part of metav1.Status that is read. */
export interface Status {
  kind?: string;
  code?: number;
  reason?: string;
  message?: string;
  details?: { retryAfterSeconds?: number; causes?: StatusCause[] };
}

/** A message names what is wrong at its beginning; the rest of a very long one helps nobody. */
const LONGEST_MESSAGE = 1_000;

/** What an ApiError is made of besides a Status. */
export interface Refusal {
  request: TransportRequest;
  status: number;
  retryAfter?: string | string[] | undefined;
  /** Wall clock, for a Retry-After that is a date. */
  now: number;
}

/**
 * What a server-side apply is refused with when the object does not fit the schema of its kind: no Status of its own,
 * so that it comes as 500 (https://github.com/kubernetes/kubernetes/issues/139253). Asked again it is refused again.
 */
const DOES_NOT_FIT_SCHEMA = ['failed to create typed patch object ', 'failed to convert new object '];
/** What etcd says to an object of more than --max-request-bytes, 1.5 MiB by default; passed on as 500, too. */
const TOO_LARGE_FOR_ETCD = 'etcdserver: request is too large';

/** The error for an answer of 300 and above. `body` is only read when it is a Status. */
export function apiErrorOf(refusal: Refusal, body: string): ApiError {
  return errorOfStatus(refusal, parseStatus(body));
}

/** The error for a Status, as an ERROR event of a watch carries one. */
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

/** What a 500 is that would be the answer to the same request again. */
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
    // A proxy's page, or nothing: the code says all there is.
    return {};
  }
}

function shorten(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE).toWellFormed()}…`;
}
