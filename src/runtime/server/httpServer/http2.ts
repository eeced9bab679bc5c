import type { Http2Session, SecureServerOptions, ServerHttp2Stream } from 'node:http2';
import type { Server } from 'node:net';
import type { Failures } from './failures.ts';
import type { HttpLimits } from './limits.ts';

/** Error codes of RFC 9113, section 7. The constants of node:http2 would load the whole module, even if HTTP/2 is not used. */
export const HTTP2_CODES = { noError: 0x0, cancel: 0x8 } as const;

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
