import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from './httpServer.ts';
import type { HttpServer } from './httpServer.ts';

/**
 * Starts a VictoriaMetrics (https://github.com/VictoriaMetrics/VictoriaMetrics) that scrapes. `config` has the form of
 * prometheus.yml.
 *
 * @param options.flags override the flags below. By default, it hides the newest 30 s from queries
 * (`-search.latencyOffset`). The tests do not wait for that.
 */
export async function startVictoriaMetrics(options: {
  config: object;
  flags?: readonly string[];
}): Promise<HttpServer> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-victoria-metrics-'));
  const file = join(directory, 'scrape.yml');
  await writeFile(file, JSON.stringify(options.config));
  const args = (address: string): string[] => [
    `-httpListenAddr=${address}`,
    `-promscrape.config=${file}`,
    `-storageDataPath=${directory}/data`,
    '-search.latencyOffset=0s',
    '-memory.allowedPercent=5',
    '-loggerLevel=WARN',
    ...(options.flags ?? []),
  ];
  return startServer({ name: 'victoria-metrics', args, readyPath: '/health', directory });
}
