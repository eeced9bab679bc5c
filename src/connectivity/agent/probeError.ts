import type { ProbeError } from '../protocol/measurement.ts';

/** Codes of Node.js and of the system (errno(3), getaddrinfo(3)). */
const BY_CODE: Readonly<Record<string, ProbeError>> = {
  ABORT_ERR: 'Timeout',
  ETIMEDOUT: 'Timeout',
  ECONNREFUSED: 'Refused',
  EHOSTUNREACH: 'Unreachable',
  ENETUNREACH: 'Unreachable',
  EADDRNOTAVAIL: 'Unreachable',
  ENETDOWN: 'Unreachable',
  ECONNRESET: 'Reset',
  EPIPE: 'Reset',
  EMSGSIZE: 'TooLarge',
  ENOTFOUND: 'NotFound',
  EAI_AGAIN: 'NotFound',
};

/** Returns why a probe failed, from the error of Node.js. An aborted probe has reached its time limit: nothing else aborts it. */
export function probeError(error: unknown): ProbeError {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (name === 'AbortError' || name === 'TimeoutError') return 'Timeout';
  return (typeof code === 'string' ? BY_CODE[code] : undefined) ?? 'Other';
}
