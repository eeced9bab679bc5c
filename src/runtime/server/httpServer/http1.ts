import type { IncomingMessage } from 'node:http';
import { Socket, type Server } from 'node:net';
import type { Answering } from './answer.ts';
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
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const reason = reasonOf(error.code);
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

function reasonOf(code = ''): FailureReason {
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'too_large';
  if (code.startsWith('HPE_')) return 'malformed';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'timeout';
  return /^ERR_(SSL|TLS)_/.test(code) ? 'tls' : 'connection';
}
