import type { BindAddress } from '../../runtime/server/bindAddress.ts';
import type { Client } from '../../runtime/client/client.ts';
import { createHealthServer, EventLoopWatch } from '../../runtime/server/health.ts';
import type { Manager } from '../../runtime/manager/manager.ts';
import type { Part } from '../../runtime/process/part.ts';
import { serverPart } from '../../runtime/server/httpListener.ts';
import { createMetricsServer } from '../../runtime/server/metricsServer.ts';
import type { Process } from './options.ts';

/**
 * Creates the servers for probes and metrics, if they are enabled.
 *
 * @param client for TokenReviews and SubjectAccessReviews of metrics clients. Not the client that writes only as
 *   leader: a standby is scraped, too
 * @throws UsageError for an invalid certificate
 */
export async function createServers(process: Process, manager: Manager, client: Client): Promise<Part[]> {
  const { healthAddress, metricsServer } = process.options;
  const parts: Part[] = [];
  if (healthAddress !== 'off') parts.push(...createHealthParts(process, healthAddress, manager));
  if (metricsServer) {
    const { address, secure } = metricsServer;
    const { registry, http } = process.metrics;
    const server = { address, registry, metrics: http, logger: process.logger };
    parts.push(...(await createMetricsServer(secure ? { ...server, secure: { ...secure, client } } : server)).parts);
  }
  return parts;
}

function createHealthParts({ metrics, logger }: Process, address: BindAddress, manager: Manager): Part[] {
  const eventLoop = new EventLoopWatch();
  const loopCheck = { name: eventLoop.name, problem: () => eventLoop.problem() };
  const checks = { live: () => [...manager.live(), loopCheck], ready: () => manager.ready() };
  return [
    serverPart(createHealthServer({ address, metrics: metrics.http, logger }, checks)),
    { name: 'event loop watch', stage: 'server', run: (signal) => eventLoop.run(signal) },
  ];
}
