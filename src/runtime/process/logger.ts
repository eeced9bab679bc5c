import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';

/** A pino logger. Messages are constant, variable parts are fields: `logger.info({ node }, 'node labelled')`. */
export type Logger = PinoLogger;

/** Levels that `createLogger` accepts, most verbose first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const SECRET_FIELDS = ['authorization', 'Authorization', 'token', 'password', 'bearerToken', 'clientKey', 'keyData'];
const CENSOR = '[redacted]';

/** The logged fields of an error. Its other fields may contain whole requests with their headers. */
interface LoggedError {
  type: string;
  message: string;
  stack?: string;
  code?: unknown;
  status?: unknown;
  reason?: unknown;
  cause?: LoggedError;
}

/**
 * A logger that writes one JSON object per line. It removes secrets twice: it redacts fields with the name of a secret,
 * and it cuts text that looks like a credential from the written line.
 *
 * @param level one of LOG_LEVELS
 * @param destination receives the lines; default: standard output
 */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serializeError, error: serializeError },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: CENSOR },
    hooks: { streamWrite: cutCredentials },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Removes HTTP credentials, and the user and password of URLs, from a text. */
export function cutCredentials(text: string): string {
  return text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${CENSOR}`)
    .replaceAll(/(\w:\/\/)[^/\s"]+@/g, `$1${CENSOR}@`);
}

function serializeError(thrown: unknown): unknown {
  return thrown instanceof Error ? describe(thrown, 0) : thrown;
}

/** Deeper causes add nothing, and a cause may refer back to its error. */
const DEEPEST_CAUSE = 3;

function describe(error: Error, depth: number): LoggedError {
  const { code, status, reason } = error as { code?: unknown; status?: unknown; reason?: unknown };
  const logged: LoggedError = { type: error.name, message: error.message };
  if (depth === 0 && error.stack !== undefined) logged.stack = error.stack;
  if (code !== undefined) logged.code = code;
  if (status !== undefined) logged.status = status;
  if (reason !== undefined) logged.reason = reason;
  if (error.cause instanceof Error && depth < DEEPEST_CAUSE) logged.cause = describe(error.cause, depth + 1);
  return logged;
}
