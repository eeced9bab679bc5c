import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as TlsServer } from 'node:tls';
import type { Registry } from 'prom-client';
import type { BindAddress } from './bindAddress.ts';
import type { Client } from './client.ts';
import { systemClock, type Clock } from './clock.ts';
import { HttpListener } from './httpListener.ts';
import type { Logger } from './logger.ts';
import { serverPart, type Part } from './manager.ts';
import { MetricsAccess, type Verdict } from './metricsServer/access.ts';
import { readCertificate, type Certificate } from './metricsServer/certificate.ts';

/** How metrics are served over TLS. */
export interface SecureOptions {
  /** Directory of tls.crt and tls.key. */
  certPath: string;
  /** Whether HTTP/2 is spoken, too. */
  http2: boolean;
  /** Asks the API server who may read. Not the leader's: a standby is scraped, too. */
  client: Client;
}

export interface MetricsServerOptions {
  address: BindAddress;
  registry: Registry;
  logger: Logger;
  /** Plain HTTP for everybody when absent. */
  secure?: SecureOptions;
  clock?: Clock;
}

const NAME = 'metrics server';

/** How often the certificate's files are looked at; the kubelet renews a mounted Secret within a minute or two. */
const RELOAD_MS = 10_000;

/** What node's http, https and http2 have in common. */
interface Incoming {
  url?: string;
  method?: string;
  headers: { authorization?: string };
}
interface Outgoing {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}
type Answer = (request: Incoming, response: Outgoing) => void;

const REFUSALS: Record<Exclude<Verdict, 'allowed'>, { status: number; headers: Record<string, string> }> = {
  unauthenticated: { status: 401, headers: { 'www-authenticate': 'Bearer' } },
  forbidden: { status: 403, headers: {} },
  busy: { status: 503, headers: { 'retry-after': '5' } },
};

/** The server and what keeps it. */
export interface MetricsServer {
  readonly listener: HttpListener;
  /** For the manager. */
  readonly parts: readonly Part[];
}

/**
 * Serves GET /metrics: in plain to everybody or, with `secure`, over TLS to those whom the API server allows it.
 *
 * @throws UsageError when the certificate cannot be used
 */
export async function createMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { secure, registry, address } = options;
  if (secure === undefined) {
    const listener = new HttpListener(NAME, createServer(answerer(registry)), address);
    return { listener, parts: [serverPart(listener)] };
  }
  const certificate = await readCertificate(secure.certPath);
  const access = new MetricsAccess(secure.client, options.logger, options.clock);
  const server = tlsServer(secure, certificate, answerer(registry, access));
  const listener = new HttpListener(NAME, server, address);
  const renewal: Part = {
    name: 'metrics certificate',
    stage: 'server',
    run: (signal) => keepCertificate(server, certificate, { ...options, certPath: secure.certPath }, signal),
  };
  return { listener, parts: [serverPart(listener), renewal] };
}

function tlsServer({ http2 }: SecureOptions, { cert, key }: Certificate, answer: Answer): TlsServer {
  const options = { cert, key, minVersion: 'TLSv1.2' as const };
  return http2 ? createSecureServer({ ...options, allowHTTP1: true }, answer) : createHttpsServer(options, answer);
}

/** Takes up a renewed certificate for new connections; while the files cannot be used, the one before stays. */
async function keepCertificate(
  server: TlsServer,
  first: Certificate,
  { certPath, logger, clock = systemClock }: MetricsServerOptions & { certPath: string },
  signal: AbortSignal,
): Promise<void> {
  let current = first;
  for (;;) {
    await clock.sleep(RELOAD_MS, signal);
    if (signal.aborted) {
      return;
    }
    try {
      const next = await readCertificate(certPath);
      if (next.cert !== current.cert || next.key !== current.key) {
        server.setSecureContext(next);
        current = next;
        logger.info({ certPath }, 'metrics certificate renewed');
      }
    } catch (error) {
      logger.error({ err: error }, 'metrics certificate not renewed');
    }
  }
}

function answerer(registry: Registry, access?: MetricsAccess): Answer {
  return (request, response) => {
    answer(registry, access, request, response).catch(() => send(response, 500, 'no metrics\n'));
  };
}

async function answer(
  registry: Registry,
  access: MetricsAccess | undefined,
  request: Incoming,
  response: Outgoing,
): Promise<void> {
  if (request.url?.split('?')[0] !== '/metrics') {
    send(response, 404, 'not found\n');
    return;
  }
  if (request.method !== 'GET') {
    send(response, 405, 'only GET\n');
    return;
  }
  const verdict = (await access?.verdictOn(request.headers.authorization)) ?? 'allowed';
  if (verdict === 'allowed') {
    send(response, 200, await registry.metrics(), { 'content-type': registry.contentType });
  } else {
    const { status, headers } = REFUSALS[verdict];
    send(response, status, `${verdict}\n`, headers);
  }
}

function send(response: Outgoing, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(text);
}
