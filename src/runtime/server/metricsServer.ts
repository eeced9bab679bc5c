import type { Registry } from 'prom-client';
import type { BindAddress } from './bindAddress.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../process/clock.ts';
import type { HttpListener } from './httpListener.ts';
import {
  createHttpServer,
  createHttpsListener,
  type HttpAnswer,
  type HttpHandler,
  type HttpMetrics,
} from './httpServer.ts';
import type { Logger } from '../process/logger.ts';
import type { Part } from '../process/part.ts';
import { serverPart } from './httpListener.ts';
import { MetricsAccess, type Verdict } from './metricsServer/access.ts';
import { readCertificate } from './certificate.ts';
import { renewalPart } from './certificateRenewal.ts';

/** Settings for metrics over TLS. */
export interface SecureOptions {
  /** Directory with tls.crt and tls.key. */
  certPath: string;
  /** Whether HTTP/2 is enabled. */
  http2: boolean;
  /** Client for authorization requests. Not limited to the leader, because Prometheus also scrapes a standby. */
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
  const source = {
    directory: secure.certPath,
    flag: '--metrics-cert-path',
    needs: 'with --metrics-secure it must hold',
  };
  const certificate = await readCertificate(source);
  const access = new MetricsAccess(secure.client, logger, clock);
  const handler = answerer(registry, access);
  const https = createHttpsListener({ ...server, handler }, { ...certificate, http2: secure.http2 });
  const renewal = renewalPart({
    name: 'metrics certificate',
    server: https,
    first: certificate,
    source,
    logger,
    clock,
  });
  return { listener: https.listener, parts: [serverPart(https.listener), renewal] };
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
