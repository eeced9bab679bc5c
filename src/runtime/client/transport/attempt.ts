import type { Clock } from '../../process/clock.ts';
import { TransportError, type TransportFailure, apiErrorOf } from '../errors.ts';
import type { Identity } from '../credentials.ts';
import type { Lane, LaneRequest } from './lane.ts';
import { LinkedAbort } from '../../async/deadline.ts';
import type { TransportRequest } from './types.ts';

/** Input of one attempt. */
export interface Attempt {
  request: TransportRequest;
  /** Called when the identity is known, because changed certificates determine the connection. */
  lane: () => Lane;
  /** Base path of the API server, such as '/k8s/clusters/c-1'. */
  basePath: string;
  identity: () => Promise<Identity>;
  /** Deadline for the whole response; for a watch, for its headers. */
  timeoutMs: number;
  clock: Clock;
  /** Aborted on shutdown. */
  closing: AbortSignal;
  /** Called with the HTTP status of the response. */
  onStatus: (status: number) => void;
}

const USER_AGENT = 'traffic-operator';
/** A shorter silence does not mean that the connection is dead. */
const SHORTEST_SILENCE_MS = 2_000;

/** The response of one attempt. */
interface Answer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Uint8Array> & { text(): Promise<string> };
}

/** Sends a request once and reads the whole response. @throws ApiError, TransportError, and the guard's error */
export async function attemptCall(attempt: Attempt): Promise<unknown> {
  const exchange = new Exchange(attempt);
  try {
    const answer = await exchange.send();
    return parse(attempt.request, await exchange.io(answer.body.text()));
  } finally {
    exchange.release();
  }
}

/** Sends a request once and returns the body as a stream. @throws as attemptCall */
export async function attemptStream(attempt: Attempt): Promise<AsyncIterable<Uint8Array>> {
  const exchange = new Exchange(attempt);
  try {
    const answer = await exchange.send();
    exchange.endDeadline();
    return readBody(answer.body, exchange);
  } catch (error) {
    exchange.release();
    throw error;
  }
}

async function* readBody(body: AsyncIterable<Uint8Array>, exchange: Exchange): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw exchange.explain(error);
  } finally {
    exchange.release();
  }
}

function parse({ method, path }: TransportRequest, text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which may contain secrets.
    throw new TransportError(`${method} ${path}: the answer is not JSON`, { failure: 'garbage' });
  }
}

/** One request in progress: the causes that can end it from outside, and the error for each. */
class Exchange {
  readonly #attempt: Attempt;
  readonly #abort: LinkedAbort;
  #lane: Lane | undefined;
  #bytesBefore = 0;
  #started = false;

  constructor(attempt: Attempt) {
    const { request, clock, closing, timeoutMs } = attempt;
    this.#attempt = attempt;
    const onExpired = (): void => this.#replaceIfSilent();
    this.#abort = new LinkedAbort([request.signal, closing], { clock, timeoutMs, onExpired });
  }

  endDeadline(): void {
    this.#abort.endDeadline();
  }

  release(): void {
    this.#abort.release();
  }

  /** Resolves when the headers of a successful response have arrived. */
  async send(): Promise<Answer> {
    const { request, clock, identity, onStatus } = this.#attempt;
    const { headers } = await this.io(this.#abort.race(identity()));
    request.guard?.();
    const answer = await this.io(this.#take(this.#attempt.lane()).request(this.#laneRequest(headers)));
    onStatus(answer.statusCode);
    if (answer.statusCode < 300) return answer;
    const body = await this.io(answer.body.text());
    const refusal = { request, status: answer.statusCode, retryAfter: answer.headers['retry-after'], now: clock.now() };
    throw apiErrorOf(refusal, body);
  }

  /** Returns a result and converts a failure to its error. */
  async io<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw this.explain(error);
    }
  }

  explain(error: unknown): TransportError {
    const { request, timeoutMs, closing } = this.#attempt;
    const about = `${request.method} ${request.path}`;
    if (this.#abort.expired) return this.#failure(`${about}: no answer within ${timeoutMs / 1000} s`, 'deadline');
    if (closing.aborted) return this.#failure(`${about}: the transport was closed`, 'aborted');
    if (this.#abort.signal.aborted) return this.#failure(`${about}: cancelled`, 'aborted');
    return this.#failure(`${about}: ${briefly(error)}`, 'connection', error);
  }

  #failure(message: string, failure: TransportFailure, cause?: unknown): TransportError {
    return new TransportError(message, { failure, unsent: !this.#started, cause });
  }

  #laneRequest(identityHeaders: Record<string, string>): LaneRequest {
    const { request, basePath } = this.#attempt;
    const { method, body, contentType = 'application/json', accept = 'application/json' } = request;
    const headers: Record<string, string> = { ...identityHeaders, accept, 'user-agent': USER_AGENT };
    if (body !== undefined) headers['content-type'] = contentType;
    return {
      method,
      path: basePath + withQuery(request),
      headers,
      signal: this.#abort.signal,
      onStart: () => {
        this.#started = true;
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }

  #take(lane: Lane): Lane {
    this.#lane = lane;
    this.#bytesBefore = lane.bytesReceived;
    return lane;
  }

  /** If no byte arrived in that time, not even for other requests, the connection is dead: close it for all of them. */
  #replaceIfSilent(): void {
    if (this.#attempt.timeoutMs >= SHORTEST_SILENCE_MS && this.#lane?.bytesReceived === this.#bytesBefore) {
      this.#lane.replace(new Error('the connection was silent'));
    }
  }
}

function withQuery({ path, query = {} }: TransportRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

/** An error about several addresses has no message, only a code. */
function briefly(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.message !== '') return error.message;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
