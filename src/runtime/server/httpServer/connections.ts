import type { IncomingMessage } from 'node:http';
import { Socket, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Http2Session, SecureServerOptions, ServerHttp2Stream } from 'node:http2';
import type { Answering } from './answer.ts';
import { HTTP2_CODES } from './exchange.ts';
import type { FailureReason, Failures } from './failures.ts';
import type { HttpLimits } from './limits.ts';

/** The response before closing a connection without any other response. */
const STATUS: Partial<Record<FailureReason, string>> = {
  malformed: '400 Bad Request',
  timeout: '408 Request Timeout',
  too_large: '431 Request Header Fields Too Large',
};

/**
 * Sets the limits of HTTP/1.1 as properties of a server, which https and http2 servers also read. Call it before the
 * server listens.
 */
export function limitHttp1(server: Server, limits: HttpLimits): void {
  Object.assign(server, {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    timeout: limits.stalledMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headerBytes,
  });
}

/**
 * Keeps idle HTTP/1.1 connections for a shorter time while many are open: each takes memory. Node.js reads the time with each
 * response, and sends it in the header Keep-Alive.
 */
export function shortenInCrowd(server: Server, { crowd, keepAliveMs, crowdedKeepAliveMs }: HttpLimits): void {
  let open = 0;
  const count = (change: 1 | -1): void => {
    open += change;
    Object.assign(server, { keepAliveTimeout: open > crowd ? crowdedKeepAliveMs : keepAliveMs });
  };
  server.on('connection', (socket) => {
    count(1);
    socket.once('close', () => count(-1));
  });
}

/** Closes and counts connections without a valid HTTP/1.1 request or TLS handshake. */
export function refuseBadClients(server: Server, answering: Answering, failures: Failures): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket | TLSSocket) => {
    const reason = isUnauthenticated(error, socket) ? 'unauthenticated' : reasonOf(error.code);
    failures.count(reason);
    const status = STATUS[reason];
    if (status === undefined || !socket.writable || answering.isUnderWay(socket)) {
      socket.destroy();
    } else {
      socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      socket.destroySoon();
    }
  });
  // Also fires after keepAliveMs. An HTTP/2 session is not a socket and has its own timers.
  server.on('timeout', (connection: object) => {
    if (!(connection instanceof Socket)) return;
    if (answering.isUnderWay(connection)) failures.count('timeout');
    connection.destroy();
  });
  // Node.js also closes such a connection, but without counting. HTTP/2 passes a response instead of the socket.
  server.on('connect', ({ socket }: IncomingMessage) => {
    failures.count('refused');
    socket.destroy();
  });
}

/** Node.js closes the connection of a client whose certificate is of other CAs: the error is the one of a reset. */
function isUnauthenticated({ code }: NodeJS.ErrnoException, socket: Socket | TLSSocket): boolean {
  const isRefused = 'authorizationError' in socket && Boolean(socket.authorizationError);
  return isRefused || code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE';
}

function reasonOf(code = ''): FailureReason {
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'too_large';
  if (code.startsWith('HPE_')) return 'malformed';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'timeout';
  return /^ERR_(SSL|TLS)_/.test(code) ? 'tls' : 'connection';
}

/** Memory limit of one session, in MB: responses that its client does not read. */
const SESSION_MB = 2;

/** The limits of HTTP/2. */
export function http2Options(limits: HttpLimits): SecureServerOptions {
  return {
    allowHTTP1: true,
    maxSessionMemory: SESSION_MB,
    settings: {
      maxConcurrentStreams: limits.requestsUnderWay,
      maxHeaderListSize: limits.headerBytes,
      enablePush: false,
    },
  };
}

/** Ends slow sessions and streams, and handles the errors of both. Has no effect for HTTP/1.1. */
export function limitSessions(server: Server, limits: HttpLimits, failures: Failures): void {
  server.on('session', (session: Http2Session) => limitSession(session, limits, failures));
  server.on('sessionError', () => failures.count('connection'));
}

/**
 * A session has headersMs to start its first stream and keepAliveMs to start the next. A stream has requestMs. Arriving
 * bytes do not extend these limits, as they would with `session.setTimeout`: a client may send a header byte by byte.
 */
function limitSession(session: Http2Session, limits: HttpLimits, failures: Failures): void {
  const end = (): void => {
    failures.count('timeout');
    session.destroy();
  };
  let timer = setTimeout(end, limits.headersMs);
  session.on('error', () => undefined);
  session.once('close', () => clearTimeout(timer));
  session.on('stream', (stream: ServerHttp2Stream) => {
    clearTimeout(timer);
    timer = setTimeout(end, limits.keepAliveMs);
    limitStream(stream, limits.requestMs, failures);
  });
}

function limitStream(stream: ServerHttp2Stream, requestMs: number, failures: Failures): void {
  const timer = setTimeout(() => {
    failures.count('timeout');
    stream.close(HTTP2_CODES.cancel);
  }, requestMs);
  stream.on('error', () => undefined);
  stream.once('close', () => clearTimeout(timer));
}

/** Handles the error events of a server and its sockets, which Node.js throws without a listener. */
export function bearErrors(server: Server, failures: Failures): void {
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => socket.on('error', () => undefined));
  }
  // Until the server listens, `listen` reports the error to its caller.
  server.on('error', () => {
    if (server.listening) failures.count('connection');
  });
}
