import type { ServerFlags } from '../options/commonFlags.ts';
import { type BindAddress, serverPart } from '../runtime/server/httpListener.ts';
import type { Client } from '../runtime/client/client.ts';
import { createHealthServer, EventLoopWatch } from '../runtime/server/health.ts';
import type { Manager } from '../runtime/manager/manager.ts';
import type { Part } from '../runtime/process/part.ts';
import { createMetricsServer, type SecureOptions } from '../runtime/server/metricsServer.ts';
import type { RuntimeMetrics } from '../runtime/manager/metrics.ts';
import type { Logger } from '../runtime/process/logger.ts';

/** Settings of the metrics server. With `secure`: over TLS, and only to clients that the API server authorizes. */
export interface MetricsServerSettings {
  readonly address: BindAddress;
  readonly secure: Omit<SecureOptions, 'client'> | undefined;
}

/** The metrics server of the flags; undefined if it is off. */
export function metricsServerOf(flags: ServerFlags): MetricsServerSettings | undefined {
  const { metricsBindAddress, metricsSecure, metricsCertPath, enableHttp2 } = flags;
  if (metricsBindAddress === 'off') {
    return undefined;
  }
  const isSecure = metricsSecure && metricsCertPath !== undefined;
  return {
    address: metricsBindAddress,
    secure: isSecure ? { certPath: metricsCertPath, http2: enableHttp2 } : undefined,
  };
}

/** The servers of a process, and their addresses. */
export interface ServerOptions {
  readonly healthAddress: BindAddress | 'off';
  /** Undefined if there is none. */
  readonly metricsServer: MetricsServerSettings | undefined;
  readonly metrics: RuntimeMetrics;
  readonly logger: Logger;
}

/**
 * Creates the servers for probes and metrics, if they are enabled.
 *
 * @param client for TokenReviews and SubjectAccessReviews of metrics clients. Not the client that writes only as
 *   leader: a standby is scraped, too
 * @throws UsageError for an invalid certificate
 */
export async function createServers(options: ServerOptions, manager: Manager, client: Client): Promise<Part[]> {
  const { healthAddress, metricsServer, metrics, logger } = options;
  const parts: Part[] = [];
  if (healthAddress !== 'off') parts.push(...createHealthParts(options, healthAddress, manager));
  if (metricsServer) {
    const { address, secure } = metricsServer;
    const server = { address, registry: metrics.registry, metrics: metrics.http, logger };
    parts.push(...(await createMetricsServer(secure ? { ...server, secure: { ...secure, client } } : server)).parts);
  }
  return parts;
}

function createHealthParts({ metrics, logger }: ServerOptions, address: BindAddress, manager: Manager): Part[] {
  const eventLoop = new EventLoopWatch();
  const loopCheck = { name: eventLoop.name, problem: () => eventLoop.problem() };
  const checks = { live: () => [...manager.live(), loopCheck], ready: () => manager.ready() };
  return [
    serverPart(createHealthServer({ address, metrics: metrics.http, logger }, checks)),
    { name: 'event loop watch', stage: 'server', run: (signal) => eventLoop.run(signal) },
  ];
}
