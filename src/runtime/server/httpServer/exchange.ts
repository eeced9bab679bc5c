import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** A request as its handler sees it. */
export interface HttpRequest extends HttpTarget {
  readonly method: string;
  readonly authorization: string | undefined;
  /** The header Accept. */
  readonly accept: string | undefined;
  /** Address of the client; '' if the connection is closed already. */
  readonly source: string;
  /**
   * Reads the body as UTF-8; call it at most once. A handler need not catch its errors: the client gets a 413.
   *
   * @param take gets the bytes of each chunk before it is kept; if it throws, no more is read
   * @throws BodyTooLarge above `limitBytes`; BodyIncomplete if the client ends its connection; what `take` throws
   */
  readonly body: (limitBytes: number, take?: (bytes: number) => void) => Promise<string>;
}

/** A response. The server omits the body of a HEAD. It may refuse a long one: see LongAnswers. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** Further parts of a long body, after `text`. The server makes a part when the client has received the previous one. */
  readonly parts?: Iterable<string>;
  /** Additional headers. The default content-type is plain text. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Handles requests. If it throws or rejects, the client gets a 500. */
export type HttpHandler = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

/** Node.js' request and response types of HTTP/1.1 and HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

/** Path and query of a request. */
export interface HttpTarget {
  /** Unchanged: percent-encoding is not decoded, dot segments are not resolved. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** RFC 9112, 3.2: a path, or a whole URL as for a proxy. */
const TARGET = /^(?:https?:\/\/[^/?#]+)?(\/[^?#]*)(?:\?([^#]*))?/i;

/**
 * Parses the target of a request. Never throws, unlike `new URL` for `//`.
 *
 * @returns undefined for a target without a path, such as `*`
 */
export function readTarget(target: string | undefined): HttpTarget | undefined {
  const [, path, query] = TARGET.exec(target ?? '') ?? [];
  return path === undefined ? undefined : { path, query: new URLSearchParams(query) };
}

/** Error codes of RFC 9113, section 7. The constants of node:http2 would load the whole module, even if HTTP/2 is not used. */
export const HTTP2_CODES = { noError: 0x0, cancel: 0x8 } as const;
