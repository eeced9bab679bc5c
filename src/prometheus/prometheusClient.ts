import { STATUS_CODES } from 'node:http';
import type { Readable } from 'node:stream';
import { PrometheusDriver, type PrometheusConnectionOptions } from 'prometheus-query';
import {
  readAnswer,
  type SeriesVisitor,
  type Answer,
  type Conceal,
  errorOf,
  type ResultType,
  BodyBuffer,
} from './answer.ts';
import { EndpointCredentials, parseEndpointUrl, type Credentials, type PrometheusEndpoint } from './endpoint.ts';
import { PrometheusError } from './prometheusError.ts';

/** One query. */
export interface InstantQuery {
  /** PromQL expression. */
  expression: string;
  /** The type of the result. Default: vector. */
  type?: ResultType;
  /** Receives the series of the answer. */
  visitor: SeriesVisitor;
  /** Once it is aborted, the query ends with its reason. */
  signal: AbortSignal;
  /** Sent to the server, so that it stops work that is no longer needed. */
  timeoutMs: number;
}

/** Client of one Prometheus. */
export interface PrometheusClient {
  /** Evaluates a query at the server's time. Throws PrometheusError, or the reason of the signal once it is aborted. */
  query(query: InstantQuery): Promise<Answer>;
  /** Closes all connections. */
  close(): void;
}

/** 10,000 nodes of three devices give at most 25 MB. A larger answer indicates a wrong configuration. */
const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024;
/**
 * Longest expression in a GET, in characters. Longer ones use POST, because proxies reject request lines above 8 KiB.
 * Shorter ones do not, because a POST may need other permissions.
 */
const LONGEST_GET = 4_000;
/** Replaces the default timeout of the driver. It never applies, because the signal ends a request before. */
const LONGEST_REQUEST_MS = 300_000;

type Request = Parameters<NonNullable<PrometheusConnectionOptions['requestInterceptor']>['onFulfilled']>[0];
type Response = Parameters<NonNullable<PrometheusConnectionOptions['responseInterceptor']>['onFulfilled']>[0];

/** State of one call that bypasses the driver: the driver receives an empty copy of the answer. */
interface Call {
  query: InstantQuery;
  answer?: Answer;
  secrets: readonly string[];
}

/**
 * Creates a client for an endpoint, based on the driver of prometheus-query. The driver builds the request.
 * Interceptors set what the driver has no option for, and read the answer before the driver parses it. The driver would
 * throw on a native histogram, read "+Inf" as NaN and copy all labels of all series.
 *
 * Retries a query once if the connection was reset. Throws PrometheusError BadConfiguration for an invalid endpoint.
 */
export function createPrometheusClient(
  endpoint: PrometheusEndpoint,
  { largestAnswerBytes = LARGEST_ANSWER_BYTES }: { largestAnswerBytes?: number } = {},
): PrometheusClient {
  const url = parseEndpointUrl(endpoint.url);
  const credentials = new EndpointCredentials(endpoint);
  const ask = async (query: InstantQuery): Promise<Answer> => {
    const call: Call = { query, secrets: [] };
    const driver = driverFor(url, credentials, call, largestAnswerBytes);
    await driver.instantQuery(query.expression, undefined, timeoutOf(query));
    if (call.answer === undefined) throw new PrometheusError('BadAnswer', 'the driver returned without an answer');
    return call.answer;
  };
  return {
    query: (query) =>
      ask(query).catch((thrown: unknown) => {
        query.signal.throwIfAborted();
        if (!brokeOff(thrown)) throw explain(thrown, url);
        return ask(query).catch((again: unknown) => {
          query.signal.throwIfAborted();
          throw explain(again, url);
        });
      }),
    close: () => credentials.close(),
  };
}

function timeoutOf({ timeoutMs }: InstantQuery): string {
  return `${Math.max(1, Math.ceil(timeoutMs))}ms`;
}

/** Creates a driver for each call, so that its interceptors know the call. */
function driverFor(
  url: string,
  credentials: EndpointCredentials,
  call: Call,
  largestAnswerBytes: number,
): PrometheusDriver {
  return new PrometheusDriver({
    endpoint: url,
    timeout: LONGEST_REQUEST_MS,
    requestInterceptor: {
      async onFulfilled(request) {
        const read = await credentials.read();
        call.secrets = read.secrets;
        return complete(request, read, call.query);
      },
    },
    responseInterceptor: { onFulfilled: (response) => takeAnswer(response, call, largestAnswerBytes) },
  });
}

function complete(request: Request, credentials: Credentials, { expression, signal }: InstantQuery): Request {
  const params = request.params as URLSearchParams;
  // The driver sends the operator's time. Without it the server uses its own, so a wrong clock here does no harm.
  params.delete('time');
  const long = expression.length > LONGEST_GET;
  request.headers.set(credentials.headers);
  return Object.assign(request, {
    ...(long ? { method: 'post', params: undefined, data: params } : { data: undefined }),
    signal,
    httpAgent: credentials.httpAgent,
    httpsAgent: credentials.httpsAgent,
    // A followed redirect would send the extra headers to another server.
    maxRedirects: 0,
    responseType: 'stream' as const,
    validateStatus: () => true,
  });
}

/** The answer that the driver receives: success without series. */
const EMPTY = { status: 'success', data: { resultType: 'vector', result: [] } };

async function takeAnswer(response: Response, call: Call, most: number): Promise<Response> {
  const { status } = response;
  const body = response.data as Readable;
  const { visitor, signal, type = 'vector' } = call.query;
  const withoutSecrets = (text: string): string => conceal(text, call.secrets);
  try {
    if (status === 401 || status === 403)
      throw new PrometheusError('Unauthorized', `Prometheus answers ${nameOf(status)}`);
    if (status < 200 || status > 299) throw await failureOf(response, body, withoutSecrets);
    call.answer = await readAnswer(body, { visitor, signal, most, conceal: withoutSecrets, type });
  } finally {
    body.destroy();
  }
  return { ...response, data: EMPTY };
}

const LARGEST_ERROR_BYTES = 64 * 1024;

/** The error message of Prometheus if there is one, otherwise the HTTP status. */
async function failureOf(response: Response, body: Readable, withoutSecrets: Conceal): Promise<PrometheusError> {
  try {
    const buffer = new BodyBuffer(body, LARGEST_ERROR_BYTES);
    await buffer.rest();
    const failure = errorOf(JSON.parse(buffer.bytes.toString('utf8')), withoutSecrets);
    return failure === undefined ? statusError(response) : new PrometheusError('QueryFailed', failure);
  } catch {
    return statusError(response);
  }
}

function statusError({ status, headers }: Response): PrometheusError {
  const location: unknown = headers.location;
  const redirect = status >= 300 && status <= 399 && typeof location === 'string' && URL.canParse(location);
  const elsewhere = redirect ? ` to ${new URL(location).origin}; redirects are not followed` : '';
  return new PrometheusError('BadStatus', `Prometheus answers ${nameOf(status)}${elsewhere}`);
}

function nameOf(status: number): string {
  return `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The driver throws a plain object that wraps the error of axios or of an interceptor. */
interface Thrown {
  code?: unknown;
  original?: unknown;
}

/** Error codes of a reset connection, also of an idle keep-alive connection that the server closed. */
const BROKEN_OFF: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/** True if the query can be retried at once on a new connection: a query is idempotent, and no series was visited. */
function brokeOff(thrown: unknown): boolean {
  return BROKEN_OFF.has(((thrown ?? {}) as Thrown).code);
}

function explain(thrown: unknown, url: string): PrometheusError {
  if (thrown instanceof PrometheusError) return thrown;
  const { code, original } = (thrown ?? {}) as Thrown;
  if (original instanceof PrometheusError) return original;
  // HPE_* are errors of the HTTP parser: the answer was not HTTP.
  if (typeof code === 'string' && code.startsWith('HPE_')) {
    return new PrometheusError('BadAnswer', `${url} does not speak HTTP (${code})`);
  }
  const why = typeof code === 'string' ? code : 'the connection closed';
  return new PrometheusError('Unreachable', `cannot connect to ${url}: ${why}${hintFor(why)}`);
}

function hintFor(code: string): string {
  const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
  return untrusted ? ' (its certificate is not trusted; set a CA file with the CA that signed it)' : '';
}

/**
 * Creates a client that asks the Prometheus at `url`, without credentials, and `standard` while there is none.
 *
 * @param url returns the URL of the other Prometheus; undefined while there is none
 */
export function routedClient(
  standard: PrometheusClient,
  url: () => string | undefined,
  create: (url: string) => PrometheusClient = (other) => createPrometheusClient({ url: other, isNear: true }),
): PrometheusClient {
  let other: { readonly url: string; readonly client: PrometheusClient } | undefined;
  const present = (): PrometheusClient => {
    const wanted = url();
    if (other !== undefined && other.url !== wanted) {
      other.client.close();
      other = undefined;
    }
    if (wanted === undefined) return standard;
    other ??= { url: wanted, client: create(wanted) };
    return other.client;
  };
  return {
    // Async, so that an invalid URL rejects the promise, as any other failure does.
    query: async (query) => present().query(query),
    close() {
      other?.client.close();
      standard.close();
    },
  };
}

const CENSOR = '[redacted]';

/**
 * Replaces secrets in a text from another program. Finds them plain or URL-encoded, and with any white space between
 * their words. Call it before shortening a text, which could leave a part of a secret.
 */
export function conceal(text: string, secrets: readonly string[]): string {
  // One secret may contain another.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, secret) => rest.replaceAll(formsOf(secret), CENSOR), text);
}

function formsOf(secret: string): RegExp {
  const spaced = secret
    .trim()
    .split(/\s+/)
    .map(literally)
    .join(String.raw`\s+`);
  return new RegExp(`${spaced}|${literally(encodeURIComponent(secret))}`, 'g');
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
