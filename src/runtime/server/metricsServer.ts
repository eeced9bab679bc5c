import type { Registry } from 'prom-client';
import type { BindAddress } from './bindAddress.ts';
import type { Client } from '../client/client.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import type { HttpListener } from './httpListener.ts';
import {
  createHttpServer,
  createHttpsListener,
  type HttpAnswer,
  type HttpHandler,
  type HttpMetrics,
  type HttpsServer,
} from './httpServer.ts';
import type { Logger } from '../process/logger.ts';
import type { Part } from '../process/part.ts';
import { serverPart } from './httpListener.ts';
import { MetricsAccess, type Verdict } from './metricsServer/access.ts';
import { readCertificate, type Certificate } from './metricsServer/certificate.ts';

/** Settings for metrics over TLS. */
export interface SecureOptions {
  /** Directory with tls.crt and tls.key. */
  certPath: string;
  /** Whether HTTP/2 is enabled. */
  http2: boolean;
  /** Client for authorization requests. Not limited to the leader, because a standby is scraped, too. */
  client: Client;
}

export interface MetricsServerOptions {
  address: BindAddress;
  registry: Registry;
  metrics: HttpMetrics;
  logger: Logger;
  /** Without it: plain HTTP without authorization. */
  secure?: SecureOptions;
  clock?: Clock;
}

const NAME = 'metrics server';

/** Interval of the check for a renewed certificate. The kubelet renews a mounted Secret within a minute or two. */
const RELOAD_MS = 10_000;

const REFUSALS: Record<Exclude<Verdict, 'allowed'>, HttpAnswer> = {
  unauthenticated: { status: 401, text: 'unauthenticated\n', headers: { 'www-authenticate': 'Bearer' } },
  forbidden: { status: 403, text: 'forbidden\n' },
  busy: { status: 503, text: 'busy\n', headers: { 'retry-after': '5' } },
};

/** The server and its parts. */
export interface MetricsServer {
  readonly listener: HttpListener;
  /** For the manager. */
  readonly parts: readonly Part[];
}

/**
 * Serves GET /metrics: over plain HTTP to every client or, with `secure`, over TLS to clients that the API server
 * authorizes.
 *
 * @throws UsageError if the certificate is unusable
 */
export async function createMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { secure, registry, address, metrics, logger, clock } = options;
  const server = { name: NAME, address, metrics, logger };
  if (secure === undefined) {
    const listener = createHttpServer({ ...server, handler: answerer(registry) });
    return { listener, parts: [serverPart(listener)] };
  }
  const certificate = await readCertificate(secure.certPath);
  const access = new MetricsAccess(secure.client, logger, clock);
  const handler = answerer(registry, access);
  const https = createHttpsListener({ ...server, handler }, { ...certificate, http2: secure.http2 });
  const renewal: Part = {
    name: 'metrics certificate',
    stage: 'server',
    run: (signal) => keepCertificate(https, certificate, { ...options, certPath: secure.certPath }, signal),
  };
  return { listener: https.listener, parts: [serverPart(https.listener), renewal] };
}

/** Uses a renewed certificate for new connections. While the files are unusable, the previous one stays. */
async function keepCertificate(
  server: HttpsServer,
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
        server.renew(next);
        current = next;
        logger.info({ certPath }, 'metrics certificate renewed');
      }
    } catch (error) {
      logger.error({ err: error }, 'metrics certificate not renewed');
    }
  }
}

function answerer(registry: Registry, access?: MetricsAccess): HttpHandler {
  return async ({ path, method, authorization }) => {
    if (path !== '/metrics') return { status: 404, text: 'not found\n' };
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, text: 'only GET\n', headers: { allow: 'GET, HEAD' } };
    }
    const verdict = (await access?.verdictOn(authorization)) ?? 'allowed';
    if (verdict !== 'allowed') return REFUSALS[verdict];
    return { status: 200, text: await registry.metrics(), headers: { 'content-type': registry.contentType } };
  };
}
