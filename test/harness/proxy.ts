import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { ControlPlane } from './controlPlane.ts';
import { createUser } from './pki.ts';
import { rewriteLines, type Rewrite } from './proxyLines.ts';

/** A request to the proxy. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  /** The path with the selectors, different for each informer. */
  readonly target: string;
  readonly isWatch: boolean;
  /** A watch-list: a watch that starts with all objects. */
  readonly isWatchList: boolean;
  /**
   * performance.now() of its arrival, of the start of the response and of its end. The latter two are recorded before
   * the client can see them, however late this process runs.
   */
  readonly at: number;
  answeredAt?: number;
  endedAt?: number;
  status?: number;
  /** Retry-After of the API server, in milliseconds. */
  retryAfterMs?: number;
  /** Ends the response, as a server that closes a watch. */
  end(): void;
}

/** The proxy's action on a request, unless it forwards the request unchanged. */
export type Fault =
  /** The proxy responds with a Status object. */
  | { kind: 'answer'; status: number }
  /** The proxy resets the TCP connection of the request. */
  | { kind: 'reset' }
  /** Forwarded after a delay. */
  | { kind: 'delay'; ms: number }
  /** Changes each line of the response as it arrives. */
  | { kind: 'rewrite'; line: Rewrite };

/** An HTTP/2 proxy for the API server that records every request, and treats it as a test requires. */
export interface ApiProxy {
  readonly url: string;
  /** Kubeconfig of a user through this proxy. The proxy itself is a cluster administrator. */
  readonly kubeconfig: string;
  readonly requests: ProxiedRequest[];
  /** Called for each request from now on; undefined forwards it. */
  fault: ((request: ProxiedRequest) => Fault | undefined) | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a proxy on loopback, with the certificate of the API server.
 *
 * @param options.asCaller forwards the Authorization header of the caller; without it, the proxy uses its own rights
 */
export async function startApiProxy(plane: ControlPlane, options: { asCaller?: boolean } = {}): Promise<ApiProxy> {
  const file = (name: string): Buffer => readFileSync(`${plane.directory}/${name}`);
  const identity = options.asCaller === true ? {} : { cert: file('admin.crt'), key: file('admin.key') };
  const upstream = new Upstream(plane.url, { ca: file('ca.crt'), ...identity });
  const server = http2.createSecureServer({ cert: file('apiserver.crt'), key: file('apiserver.key') });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.on('sessionError', () => undefined);
  const requests: ProxiedRequest[] = [];
  server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on('error', () => undefined);
    const request = requestOf(headers, () => stream.end());
    requests.push(request);
    stream.once('close', () => void (request.endedAt ??= performance.now()));
    const reset = (): void => resetConnection(sockets, stream.session?.socket.remotePort);
    upstream.handle({ stream, headers, request, fault: proxy.fault?.(request), reset });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;
  const proxy: ApiProxy = {
    url,
    kubeconfig: await createUser(plane.directory, url, `proxied-${port}`),
    requests,
    fault: undefined,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      upstream.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function requestOf(headers: http2.IncomingHttpHeaders, end: () => void): ProxiedRequest {
  const { pathname, searchParams } = new URL(headers[':path'] ?? '/', 'https://proxy');
  const isWatch = searchParams.get('watch') === 'true';
  const selectors = ['labelSelector', 'fieldSelector'].map((name) => searchParams.get(name) ?? '');
  const target = [pathname, ...selectors].filter((text) => text !== '').join(' ');
  const isWatchList = searchParams.get('sendInitialEvents') === 'true';
  return { method: headers[':method'] ?? '', path: pathname, target, isWatch, isWatchList, at: performance.now(), end };
}

/** The socket of an HTTP/2 session cannot be reset, but the socket below it can. */
function resetConnection(sockets: Set<Socket>, remotePort: number | undefined): void {
  for (const socket of sockets) if (socket.remotePort === remotePort) socket.resetAndDestroy();
}

interface Exchange {
  stream: http2.ServerHttp2Stream;
  headers: http2.IncomingHttpHeaders;
  request: ProxiedRequest;
  fault: Fault | undefined;
  reset: () => void;
}

/** The connection to the API server, opened again after it was closed. */
class Upstream {
  readonly #url: string;
  readonly #options: http2.SecureClientSessionOptions;
  #session: http2.ClientHttp2Session | undefined;

  constructor(url: string, options: http2.SecureClientSessionOptions) {
    this.#url = url;
    this.#options = options;
  }

  handle(exchange: Exchange): void {
    const { stream, request, fault, reset } = exchange;
    if (fault?.kind === 'reset') reset();
    else if (fault?.kind === 'answer') refuse(stream, request, fault.status);
    else if (fault?.kind === 'delay') setTimeout(() => this.#pass(exchange), fault.ms);
    else this.#pass(exchange);
  }

  close(): void {
    this.#session?.destroy();
  }

  #pass({ stream, headers, request, fault }: Exchange): void {
    if (stream.destroyed) return;
    const asked = this.#connected().request(without(headers, ':authority'));
    stream.once('close', () => asked.close(http2.constants.NGHTTP2_CANCEL));
    asked.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
    asked.once('end', () => void (request.endedAt ??= performance.now()));
    asked.once('response', (answer) => {
      request.status = Number(answer[':status']);
      request.answeredAt = performance.now();
      if (answer['retry-after'] !== undefined) request.retryAfterMs = Number(answer['retry-after']) * 1000;
      if (stream.destroyed) return;
      stream.respond(without(answer, 'content-length'));
      if (fault?.kind === 'rewrite' && request.status === 200) rewriteLines(asked, stream, fault.line);
      else asked.pipe(stream);
    });
    stream.pipe(asked);
  }

  #connected(): http2.ClientHttp2Session {
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed) {
      this.#session = http2.connect(this.#url, this.#options);
      this.#session.on('error', () => undefined);
    }
    return this.#session;
  }
}

function without<H extends object>(headers: H, name: keyof H): Omit<H, typeof name> {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name)) as Omit<H, typeof name>;
}

function refuse(stream: http2.ServerHttp2Stream, request: ProxiedRequest, code: number): void {
  request.status = code;
  request.answeredAt = performance.now();
  stream.respond({ ':status': code, 'content-type': 'application/json' });
  stream.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason: 'InternalError' }));
}
