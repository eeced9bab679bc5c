import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Failures } from './failures.ts';
import { readTarget, type HttpTarget } from './target.ts';

/** A request as those see it who answer it. */
export interface HttpRequest extends HttpTarget {
  readonly method: string;
  readonly authorization: string | undefined;
}

/** What is answered. The body of a HEAD is left out by the server. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** Beside content-type, which is plain text unless told. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers requests. It may throw or reject: the client is answered 500 then. */
export type HttpHandler = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

/** What Node.js has for HTTP/1.1 and HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
const CLOSE = { connection: 'close' };
const UNREADABLE: HttpAnswer = { status: 400, text: 'bad request target\n' };
const FAILED: HttpAnswer = { status: 500, text: 'internal error\n' };
const BUSY: HttpAnswer = { status: 503, text: 'too many requests on this connection\n' };

/** The one place that all requests of all servers go through. Nothing that happens in it ends the process. */
export class Answering {
  readonly #handler: HttpHandler;
  readonly #failures: Failures;
  readonly #limit: number;
  readonly #underWay = new WeakMap<object, number>();

  /** @param limit how many requests of one connection are answered at once */
  constructor(handler: HttpHandler, failures: Failures, limit: number) {
    this.#handler = handler;
    this.#failures = failures;
    this.#limit = limit;
  }

  /** Whether an answer is under way on a connection, so that nothing else may be written there. */
  isUnderWay(connection: object): boolean {
    return (this.#underWay.get(connection) ?? 0) > 0;
  }

  /** Resolves when the answer is handed over, or failed. Does not reject. */
  async respond(request: Incoming, response: Outgoing): Promise<void> {
    // A connection that is reset is an error of the request or of the response; without a listener it would be thrown.
    for (const each of [request, response]) each.on('error', () => undefined);
    try {
      const isBusy = !this.#enters(request, response);
      send(request, response, isBusy ? this.#busy() : await this.#answerTo(request));
    } catch (error) {
      // No answer can be sent: half of it may be.
      this.#failures.failed(error);
      request.destroy();
    }
  }

  #enters({ socket: connection }: Incoming, response: Outgoing): boolean {
    const before = this.#underWay.get(connection) ?? 0;
    this.#underWay.set(connection, before + 1);
    response.once('close', () => this.#underWay.set(connection, (this.#underWay.get(connection) ?? 1) - 1));
    return before < this.#limit;
  }

  async #answerTo(request: Incoming): Promise<HttpAnswer> {
    const target = readTarget(request.url);
    if (target === undefined) {
      this.#failures.count('malformed');
      return UNREADABLE;
    }
    try {
      const { method = '', headers } = request;
      return await this.#handler({ ...target, method, authorization: headers.authorization });
    } catch (error) {
      this.#failures.failed(error);
      return FAILED;
    }
  }

  #busy(): HttpAnswer {
    this.#failures.count('busy');
    return BUSY;
  }
}

function send(request: Incoming, response: Outgoing, { status, text, headers }: HttpAnswer): void {
  const all = { ...PLAIN, ...headers, ...(isLast(request, status) ? CLOSE : {}) };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  response.statusCode = status;
  if (request instanceof Http2ServerRequest) {
    // Without a listener for its body the rest of it would be read until it ends.
    response.once('finish', () => request.stream.close(constants.NGHTTP2_NO_ERROR));
  }
  response.end(text);
}

/** Whether an HTTP/1.1 connection is closed after an answer: a body that nobody reads is not waited for. */
function isLast(request: Incoming, status: number): boolean {
  return !(request instanceof Http2ServerRequest) && (!request.complete || status === BUSY.status);
}
