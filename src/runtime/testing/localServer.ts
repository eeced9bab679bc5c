import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from './certificates.ts';

/** A request as the server saw it. */
export interface SeenRequest {
  method: string;
  /** With its query. */
  url: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  httpVersion: string;
  /** Common name of the certificate that the client showed. */
  client: string | undefined;
}

/** Answers one request. */
export interface Reply {
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Sends headers and returns the response to write on. */
  open(status?: number): { write(text: string): void; end(text?: string): void };
  /** Breaks the connection off. */
  reset(): void;
}

export type Handler = (request: SeenRequest, reply: Reply) => void;

/** A real server on a port of 127.0.0.1, over HTTP/2 with TLS, or over plain HTTP/1.1 without a key pair. */
export interface LocalServer {
  url: string;
  requests: SeenRequest[];
  /** Connections since the start. */
  connections: number;
  /** Connections open now. */
  open: number;
  handler: Handler;
  /** Cuts every connection, but goes on listening. */
  cut(): void;
  close(): Promise<void>;
}

type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;

export interface LocalServerOptions {
  /** `ca`: asks clients for certificates that it signed. Undefined: plain HTTP/1.1. */
  tls?: (KeyPair & { ca?: string }) | undefined;
  /** 0 for one that is free. */
  port?: number;
  /** Offers HTTP/1.1 only, over TLS. */
  http1Only?: boolean;
}

export async function startLocalServer(handler: Handler, options: LocalServerOptions = {}): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  const listener = (request: AnyRequest, response: AnyResponse): void => void serve(local, request, response);
  const server = createServer(listener, options);
  server.on('connection', (socket: Socket) => {
    local.connections += 1;
    sockets.add(socket);
    local.open = sockets.size;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      local.open = sockets.size;
    });
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const local: LocalServer = {
    url: '',
    requests: [],
    connections: 0,
    open: 0,
    handler,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  local.url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return local;
}

function createServer(listener: (q: AnyRequest, s: AnyResponse) => void, options: LocalServerOptions): Server {
  if (options.tls === undefined) return createHttpServer(listener);
  const { cert, key, ca } = options.tls;
  const clientCertificates = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  if (options.http1Only === true) return createHttpsServer({ cert, key }, listener);
  const server = createSecureServer({ cert, key, ...clientCertificates }, listener);
  server.on('sessionError', () => undefined);
  return server;
}

async function serve(local: LocalServer, request: AnyRequest, response: AnyResponse): Promise<void> {
  response.on('error', () => undefined);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return;
  }
  const url = new URL(request.url ?? '/', 'http://local');
  const seen = {
    method: request.method ?? '',
    url: request.url ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
    httpVersion: request.httpVersion,
    client: clientOf(request),
  };
  local.requests.push(seen);
  local.handler(seen, replyOn(request, response));
}

function clientOf({ socket }: AnyRequest): string | undefined {
  const { subject } = (socket as Partial<TLSSocket>).getPeerCertificate?.() ?? {};
  return subject?.CN as string | undefined;
}

function replyOn(request: AnyRequest, response: AnyResponse): Reply {
  // The two kinds of response differ in types only, for what is used here.
  const plain = response as ServerResponse;
  return {
    json(status, body, headers = {}) {
      plain.writeHead(status, { 'content-type': 'application/json', ...headers });
      plain.end(JSON.stringify(body));
    },
    open(status = 200) {
      plain.writeHead(status, { 'content-type': 'application/json' });
      if ('flushHeaders' in plain) plain.flushHeaders();
      return { write: (text) => void plain.write(text), end: (text) => void plain.end(text) };
    },
    reset() {
      request.socket.destroy();
    },
  };
}
