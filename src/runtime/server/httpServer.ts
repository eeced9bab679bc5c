import { createServer } from 'node:http';
import type { Server } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { type BindAddress, HttpListener } from './httpListener.ts';
import { Answering } from './httpServer/answer.ts';
import {
  bearErrors,
  limitHttp1,
  refuseBadClients,
  shortenInCrowd,
  http2Options,
  limitSessions,
} from './httpServer/connections.ts';
import type { HttpHandler, Incoming, Outgoing } from './httpServer/exchange.ts';
import { Failures, type HttpMetrics } from './httpServer/failures.ts';
import { HTTP_LIMITS, type HttpLimits } from './httpServer/limits.ts';
import type { Logger } from '../process/logger.ts';

export type { HttpAnswer, HttpHandler, HttpRequest } from './httpServer/exchange.ts';
export type { HttpMetrics } from './httpServer/failures.ts';

export interface HttpServerOptions {
  /** For messages and the metric, such as 'metrics server'. */
  readonly name: string;
  readonly address: BindAddress;
  /** Handles every request, except those that the HTTP parser rejects. */
  readonly handler: HttpHandler;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  /** Default: HTTP_LIMITS. */
  readonly limits?: HttpLimits;
}

interface TlsOptions {
  /** In PEM. */
  readonly cert: string;
  readonly key: string;
  /** Whether HTTP/2 is enabled. */
  readonly http2: boolean;
  /** CAs, PEM: clients without a certificate of them are refused in the handshake. */
  readonly clientCa?: string | undefined;
}

/** A TLS server. */
export interface HttpsServer {
  readonly listener: HttpListener;
  /** Uses a renewed certificate for new connections. */
  renew(certificate: { cert: string; key: string }): void;
}

/**
 * Creates a plain HTTP/1.1 server. Only this file may create servers (.oxlintrc.json). It guarantees that no request
 * ends the process, whatever `handler` does, and that no client uses more than its limits.
 */
export function createHttpServer(options: HttpServerOptions): HttpListener {
  return guarded(options, (respond) => createServer(respond)).listener;
}

/** Creates an HTTPS server with the same guarantees. */
export function createHttpsListener(options: HttpServerOptions, { http2, clientCa, ...pair }: TlsOptions): HttpsServer {
  const limits = options.limits ?? HTTP_LIMITS;
  // Loaded here: a process without such a server, such as a connectivity agent, saves 4 MB of memory.
  const { createSecureServer } = process.getBuiltinModule('node:http2');
  const { createServer: createHttpsServer } = process.getBuiltinModule('node:https');
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const tls = { ...pair, ...clients, minVersion: 'TLSv1.2' as const, handshakeTimeout: limits.headersMs };
  const { server, listener } = guarded<TlsServer>(options, (respond) =>
    http2 ? createSecureServer({ ...tls, ...http2Options(limits) }, respond) : createHttpsServer(tls, respond),
  );
  return { listener, renew: (certificate) => server.setSecureContext({ ...certificate, ca: clientCa }) };
}

type Respond = (request: Incoming, response: Outgoing) => void;

function guarded<S extends Server>(options: HttpServerOptions, create: (respond: Respond) => S) {
  const { name, address, handler, metrics, logger, limits = HTTP_LIMITS } = options;
  const failures = new Failures(name, metrics, logger);
  const answering = new Answering(handler, failures, limits);
  const server = create((request, response) => void answering.respond(request, response));
  limitHttp1(server, limits);
  shortenInCrowd(server, limits);
  refuseBadClients(server, answering, failures);
  limitSessions(server, limits, failures);
  bearErrors(server, failures);
  const listener = new HttpListener(name, server, address, {
    limit: limits.connections,
    dropped: () => failures.count('crowded'),
  });
  return { server, listener };
}
