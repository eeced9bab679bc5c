import { once } from 'node:events';
import type { Http2ServerRequest } from 'node:http2';
import type { Writable, Readable } from 'node:stream';
import type { IncomingHttpHeaders } from 'node:http';
import { othersTurn } from '../../process/turns.ts';
import {
  HTTP2_CODES,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest,
  type Incoming,
  type Outgoing,
  readTarget,
  type HttpTarget,
} from './exchange.ts';
import type { Failures, FailureReason } from './failures.ts';
import type { HttpLimits } from './limits.ts';

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
const CLOSE = { connection: 'close' };
const UNREADABLE: HttpAnswer = { status: 400, text: 'bad request target\n' };
const FAILED: HttpAnswer = { status: 500, text: 'internal error\n' };
const BUSY: HttpAnswer = { status: 503, text: 'too many requests on this connection\n' };

/** All requests of all servers pass through this class. No error in it ends the process. */
export class Answering {
  readonly #handler: HttpHandler;
  readonly #failures: Failures;
  readonly #limit: number;
  readonly #longAnswers: LongAnswers;
  readonly #underWay = new WeakMap<object, number>();

  constructor(handler: HttpHandler, failures: Failures, limits: HttpLimits) {
    this.#handler = handler;
    this.#failures = failures;
    this.#limit = limits.requestsUnderWay;
    this.#longAnswers = new LongAnswers(limits, failures);
  }

  /** Whether a response is in progress on a connection, so that nothing else may be written to it. */
  isUnderWay(connection: object): boolean {
    return (this.#underWay.get(connection) ?? 0) > 0;
  }

  /** Resolves when the response was handed over or failed. Never rejects. */
  async respond(request: Incoming, response: Outgoing): Promise<void> {
    // A reset connection is an error event of the request or the response, which Node.js throws without a listener.
    for (const each of [request, response]) each.on('error', () => undefined);
    // From here on: while the answer is made, the client may close its connection.
    const ended = new AbortController();
    response.once('close', () => ended.abort());
    try {
      const isBusy = !this.#enters(request, ended.signal);
      const target = readTarget(request.url);
      const answer = isBusy ? this.#busy() : await this.#answerTo(request, target);
      const answered = { path: target?.path ?? '', answer, request, response };
      await send(request, response, this.#longAnswers.admit(answered, ended.signal), ended.signal);
    } catch (error) {
      // No error response is possible: part of the response may already be sent.
      this.#failures.failed(error);
      request.destroy();
    }
  }

  #enters({ socket: connection }: Incoming, ended: AbortSignal): boolean {
    const before = this.#underWay.get(connection) ?? 0;
    this.#underWay.set(connection, before + 1);
    const leave = (): unknown => this.#underWay.set(connection, (this.#underWay.get(connection) ?? 1) - 1);
    ended.addEventListener('abort', leave, { once: true });
    return before < this.#limit;
  }

  async #answerTo(request: Incoming, target: HttpTarget | undefined): Promise<HttpAnswer> {
    if (target === undefined) {
      this.#failures.count('malformed');
      return UNREADABLE;
    }
    try {
      const { method = '', headers, socket } = request;
      const { authorization, accept } = headers;
      const source = socket.remoteAddress ?? '';
      const body: HttpRequest['body'] = (limitBytes, take) => readBody(request, limitBytes, take);
      return await this.#handler({ ...target, method, authorization, accept, source, body });
    } catch (error) {
      return this.#failedAnswer(error);
    }
  }

  #failedAnswer(error: unknown): HttpAnswer {
    if (error instanceof BodyTooLarge) {
      this.#failures.count('too_large');
      return { status: 413, text: `${error.message}\n` };
    }
    if (error instanceof BodyIncomplete) {
      this.#failures.count('connection');
      return UNREADABLE;
    }
    this.#failures.failed(error);
    return FAILED;
  }

  #busy(): HttpAnswer {
    this.#failures.count('busy');
    return BUSY;
  }
}

async function send(request: Incoming, response: Outgoing, answer: HttpAnswer, ended: AbortSignal): Promise<void> {
  const { status, text, parts, headers } = answer;
  const all = { ...PLAIN, ...headers, ...(isLast(request, status) ? CLOSE : {}) };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  response.statusCode = status;
  if (isHttp2(request)) {
    // Without a body listener the rest of the body would be read to its end.
    response.once('finish', () => request.stream.close(HTTP2_CODES.noError));
  }
  if (parts === undefined) response.end(text);
  else if (request.method === 'HEAD') response.end();
  else await sendParts(response, joined(text, parts), ended);
}

function* joined(text: string, parts: Iterable<string>): Generator<string> {
  yield text;
  yield* parts;
}

/**
 * Lets others be answered between two parts, which may be large and may take long to make: a client on the same machine takes
 * each at once. Resolves, too, if the client goes away in between. Rejects if `parts` throws.
 */
async function sendParts(response: Writable, parts: Iterable<string>, ended: AbortSignal): Promise<void> {
  for (const part of parts) {
    if (!response.write(part)) await once(response, 'drain', { signal: ended }).catch(() => undefined);
    await othersTurn();
    if (ended.aborted) return;
  }
  response.end();
}

/** Not by its class, which would load node:http2. */
function isHttp2(request: Incoming): request is Http2ServerRequest {
  return request.httpVersionMajor === 2;
}

/** Whether an HTTP/1.1 connection is closed after the response, instead of waiting for an unread body. */
function isLast(request: Incoming, status: number): boolean {
  return !isHttp2(request) && (!request.complete || status === BUSY.status);
}

/** A request body above the limit of its handler. The client gets a 413. */
class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(limitBytes: number) {
    super(`the body has more than ${limitBytes} bytes`);
  }
}

/** The client did not send the whole body. No response reaches it. */
class BodyIncomplete extends Error {
  override readonly name = 'BodyIncomplete';
}

/**
 * Reads the body of a request as UTF-8. Keeps at most `limitBytes` of it in memory, whatever the client announces or
 * sends. How long a client may take is a limit of the server.
 *
 * @throws BodyTooLarge, BodyIncomplete, what `take` throws
 */
async function readBody(
  request: Readable & { headers: IncomingHttpHeaders },
  limitBytes: number,
  take?: (bytes: number) => void,
): Promise<string> {
  if (Number(request.headers['content-length']) > limitBytes) throw new BodyTooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(request)) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new BodyTooLarge(limitBytes);
    take?.(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The chunks of a body. Leaves the request open if its reader stops early: its response is still to be sent. */
async function* chunksOf(request: Readable): AsyncIterable<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new BodyIncomplete('the client did not send the whole body', { cause: error });
  }
}

/** A text above this length, in UTF-16 code units, is long: the socket of a slow reader does not take it at once. */
const LONG_TEXT = 64 * 1024;

/** The answer instead of a refused long answer. */
const TOO_MANY_LONG: HttpAnswer = {
  status: 503,
  text: 'too many long answers are being sent\n',
  headers: { 'retry-after': '5' },
};

interface Answered {
  /** Path of the request. */
  readonly path: string;
  readonly answer: HttpAnswer;
  readonly request: Incoming;
  readonly response: Outgoing;
}

/** A long answer that is being sent. */
interface Reader {
  readonly address: string;
  /** When the server made the newest part, which it does once the client has taken the part before; monotonic, ms. For a text: its start. */
  progressAt: number;
  /** Closes the connection, and frees the place at once. */
  readonly cut: () => void;
}

/**
 * Bounds the memory that slow readers of long answers occupy. An answer is long if it comes in parts or has more than
 * LONG_TEXT characters. Each path has `longAnswers` places; an address has half of them at most, rounded up. A long answer
 * is sent for `longAnswerMs` at most; then its connection is closed.
 *
 * | no place is free for a further answer, and | then |
 * |---|---|
 * | a reader made no progress for `longStalledMs` | it is closed: of the address with most such readers, the one without progress for longest |
 * | an address has at least two readers more than the newcomer's | of its readers, the one without progress for longest is closed |
 * | neither | the further answer is refused |
 *
 * So a client that reads steadily is not closed because of clients that do not read, however many addresses they have.
 * An address at its limit can only replace its own readers. Each path has its own places, so that readers of one path do
 * not block others, such as the scrapes of Prometheus.
 */
class LongAnswers {
  readonly #limits: HttpLimits;
  readonly #failures: Failures;
  /** By path. A path without readers has no entry. */
  readonly #readers = new Map<string, Set<Reader>>();

  constructor(limits: HttpLimits, failures: Failures) {
    this.#limits = limits;
    this.#failures = failures;
  }

  /** Returns the answer to send: the given one, or TOO_MANY_LONG. A long answer has a place until `ended` is aborted. */
  admit({ path, answer, request, response }: Answered, ended: AbortSignal): HttpAnswer {
    if (!isLong(answer) || ended.aborted) return answer;
    const address = request.socket.remoteAddress ?? '';
    if (!this.#makesRoom(path, address)) {
      this.#failures.count('busy');
      return TOO_MANY_LONG;
    }
    const end = (reason: FailureReason): void => {
      this.#failures.count(reason);
      leave();
      response.destroy();
    };
    const reader: Reader = { address, progressAt: performance.now(), cut: () => end('crowded') };
    const timer = setTimeout(() => end('timeout'), this.#limits.longAnswerMs);
    const leave = (): void => {
      clearTimeout(timer);
      this.#leave(path, reader);
    };
    this.#readers.set(path, (this.#readers.get(path) ?? new Set()).add(reader));
    ended.addEventListener('abort', leave, { once: true });
    return answer.parts === undefined ? answer : { ...answer, parts: watched(answer.parts, reader) };
  }

  /** Returns whether a place is free, after cutting a reader if there is none. */
  #makesRoom(path: string, address: string): boolean {
    const { longAnswers, longStalledMs } = this.#limits;
    const readers = [...(this.#readers.get(path) ?? [])];
    const own = readers.filter((each) => each.address === address);
    const isAtLimit = own.length >= Math.ceil(longAnswers / 2);
    if (readers.length < longAnswers && !isAtLimit) return true;
    const candidates = isAtLimit ? own : readers;
    const stalledSince = performance.now() - longStalledMs;
    const stalled = ofLargest(candidates.filter(({ progressAt }) => progressAt <= stalledSince));
    const most = ofLargest(candidates);
    const replaced = stalled.length > 0 ? stalled : most.length >= own.length + 2 ? most : [];
    replaced.toSorted((a, b) => a.progressAt - b.progressAt)[0]?.cut();
    return replaced.length > 0;
  }

  #leave(path: string, reader: Reader): void {
    const readers = this.#readers.get(path);
    readers?.delete(reader);
    if (readers?.size === 0) this.#readers.delete(path);
  }
}

/** The readers of the address that has most of them. */
function ofLargest(readers: readonly Reader[]): Reader[] {
  const byAddress = [...Map.groupBy(readers, ({ address }) => address).values()];
  return byAddress.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** The parts; each that is made is progress of the reader. */
function* watched(parts: Iterable<string>, reader: Reader): Generator<string> {
  for (const part of parts) {
    reader.progressAt = performance.now();
    yield part;
  }
}

function isLong({ text, parts }: HttpAnswer): boolean {
  return parts !== undefined || text.length > LONG_TEXT;
}
