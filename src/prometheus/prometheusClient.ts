import { STATUS_CODES } from 'node:http';
import type { Readable } from 'node:stream';
import { PrometheusDriver } from 'prometheus-query';
import type { PrometheusConnectionOptions } from 'prometheus-query';
import { readAnswer, type SeriesVisitor } from './answer.ts';
import { type Answer, type Conceal, errorOf } from './answerEnvelope.ts';
import { conceal } from './conceal.ts';
import { EndpointCredentials, parseEndpointUrl } from './endpoint.ts';
import type { Credentials, PrometheusEndpoint } from './endpoint.ts';
import { BodyBuffer } from './bodyBuffer.ts';
import { PrometheusError } from './prometheusError.ts';

/** One query. */
export interface InstantQuery {
  /** PromQL whose value is a vector. */
  expression: string;
  /** Gets the series of the answer. */
  visitor: SeriesVisitor;
  /** Ends the question by throwing the reason of the signal. */
  signal: AbortSignal;
  /** Told to the server, which need not work longer than anybody waits. */
  timeoutMs: number;
}

/** Asks one Prometheus. */
export interface PrometheusClient {
  /** The evaluation is at the server's time. Throws PrometheusError, or the reason of the signal once it is aborted. */
  query(query: InstantQuery): Promise<Answer>;
  /** Closes all connections. */
  close(): void;
}

/** 10,000 nodes of three devices answer with 25 MB at most; more can only be a mistake. */
const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024;
/** Longer ones go as POST: proxies refuse request lines beyond 8 KiB. Shorter ones don't, since a POST may need other rights. */
const LONGEST_GET = 4_000;
/** The signal ends a request; this is only what axios would otherwise take by default. */
const LONGEST_REQUEST_MS = 300_000;

type Request = Parameters<NonNullable<PrometheusConnectionOptions['requestInterceptor']>['onFulfilled']>[0];
type Response = Parameters<NonNullable<PrometheusConnectionOptions['responseInterceptor']>['onFulfilled']>[0];

/** What of the driver's call we keep: it sees its own copy of the answer, emptied. */
interface Call {
  query: InstantQuery;
  answer?: Answer;
  secrets: readonly string[];
}

/**
 * A client for an endpoint, on prometheus-query's driver. The driver builds the request; its interceptors put in what
 * it has no option for, and take the answer out before it parses it: it would throw on one native histogram, read
 * "+Inf" as NaN and copy all labels of all series.
 *
 * Throws PrometheusError BadConfiguration for an endpoint that can't be asked.
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
    if (call.answer === undefined) throw new PrometheusError('BadAnswer', 'no answer was read');
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

/** A driver of its own for each call: that is how the interceptors know which call they serve. */
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
  // The driver always sends our time; without it the server takes its own, and a wrong clock here does no harm.
  params.delete('time');
  const long = expression.length > LONGEST_GET;
  request.headers.set(credentials.headers);
  return Object.assign(request, {
    ...(long ? { method: 'post', params: undefined, data: params } : { data: undefined }),
    signal,
    httpAgent: credentials.httpAgent,
    httpsAgent: credentials.httpsAgent,
    // Followed elsewhere, a redirect would take the extra headers along.
    maxRedirects: 0,
    responseType: 'stream' as const,
    validateStatus: () => true,
  });
}

/** What the driver gets to see: success without a series. */
const EMPTY = { status: 'success', data: { resultType: 'vector', result: [] } };

async function takeAnswer(response: Response, call: Call, most: number): Promise<Response> {
  const { status } = response;
  const body = response.data as Readable;
  const { visitor, signal } = call.query;
  const withoutSecrets = (text: string): string => conceal(text, call.secrets);
  try {
    if (status === 401 || status === 403)
      throw new PrometheusError('Unauthorized', `Prometheus answers ${nameOf(status)}`);
    if (status < 200 || status > 299) throw await failureOf(response, body, withoutSecrets);
    call.answer = await readAnswer(body, { visitor, signal, most, conceal: withoutSecrets });
  } finally {
    body.destroy();
  }
  return { ...response, data: EMPTY };
}

const LARGEST_ERROR_BYTES = 64 * 1024;

/** What Prometheus itself says of it, or else what the status says. */
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

/** What the driver throws: a plain object around the error of axios or of an interceptor. */
interface Thrown {
  code?: unknown;
  original?: unknown;
}

/** What a connection that is reset ends with, also one that was kept open and that the server has closed meanwhile. */
const BROKEN_OFF: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

/** Whether it is worth asking again at once, by a new connection: a query changes nothing, and nothing was read yet. */
function brokeOff(thrown: unknown): boolean {
  return BROKEN_OFF.has(((thrown ?? {}) as Thrown).code);
}

function explain(thrown: unknown, url: string): PrometheusError {
  if (thrown instanceof PrometheusError) return thrown;
  const { code, original } = (thrown ?? {}) as Thrown;
  if (original instanceof PrometheusError) return original;
  // HPE_*: what came back was not HTTP.
  if (typeof code === 'string' && code.startsWith('HPE_')) {
    return new PrometheusError('BadAnswer', `${url} does not speak HTTP (${code})`);
  }
  const why = typeof code === 'string' ? code : 'connection broke off';
  return new PrometheusError('Unreachable', `${url} can't be reached: ${why}${hintFor(why)}`);
}

function hintFor(code: string): string {
  const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code);
  return untrusted ? ' (its certificate is not trusted; a CA file can name who signed it)' : '';
}
