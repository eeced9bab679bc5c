import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';

/** A pino logger: a constant message, with what varies in its fields: `logger.info({ node }, 'node labelled')`. */
export type Logger = PinoLogger;

/** Levels that `createLogger` takes, most talkative first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const SECRET_FIELDS = ['authorization', 'Authorization', 'token', 'password', 'bearerToken', 'clientKey', 'keyData'];
const CENSOR = '[redacted]';

/** What an error may tell a log: never its other fields, where HTTP libraries keep whole requests with their headers. */
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
 * A logger that writes one JSON object a line. Secrets are kept out twice: fields named like one are censored, and
 * whatever looks like a credential in any text is cut from the line as it is written.
 *
 * @param level one of LOG_LEVELS
 * @param destination where the lines go; standard output unless told
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

/** Takes HTTP credentials and what stands before the @ of a URL's host out of a text. */
export function cutCredentials(text: string): string {
  return text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${CENSOR}`)
    .replaceAll(/(\w:\/\/)[^/\s"]+@/g, `$1${CENSOR}@`);
}

function serializeError(thrown: unknown): unknown {
  return thrown instanceof Error ? describe(thrown, 0) : thrown;
}

/** Causes beyond the third say nothing new, and a cause may point back at its error. */
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
