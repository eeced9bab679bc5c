import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHttpServer } from './httpServer.ts';
import type { HttpServer } from './httpServer.ts';

/**
 * Starts a node_exporter for the devices of this machine, or for a synthetic tree with `flags` such as
 * `--path.sysfs=DIR`. Metrics are at `${url}/metrics`.
 */
export async function startNodeExporter(
  options: { flags?: readonly string[]; port?: number } = {},
): Promise<HttpServer> {
  const temporary = await mkdtemp(join(tmpdir(), 'traffic-node-exporter-'));
  const flags = ['--log.level=warn', ...(options.flags ?? [])];
  return startHttpServer('node_exporter', flags, '/', temporary, options.port);
}
