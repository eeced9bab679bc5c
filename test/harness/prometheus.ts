import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHttpServer } from './httpServer.ts';
import type { HttpServer } from './httpServer.ts';

/** A real Prometheus. */
export interface RunningPrometheus extends HttpServer {
  /** Where relative paths of the configuration are looked up, such as file_sd's. */
  readonly directory: string;
  /** Writes a new configuration and has it read; throws when Prometheus refuses it. */
  configure(config: string | object): Promise<void>;
}

/**
 * Starts a Prometheus.
 * `config` is prometheus.yml, as text or as the object that it says. It is written into `dir`, a directory of the
 * caller's that is left as it is in the end, or a temporary one. `flags` are further flags, `port` one that is free.
 */
export async function startPrometheus(options: {
  config: string | object;
  dir?: string;
  flags?: readonly string[];
  port?: number | undefined;
}): Promise<RunningPrometheus> {
  const temporary = await mkdtemp(join(tmpdir(), 'traffic-prometheus-'));
  const directory = options.dir ?? temporary;
  const file = join(directory, 'prometheus.yml');
  await writeFile(file, configText(options.config));
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${temporary}/data`,
    '--web.enable-lifecycle',
    '--log.level=warn',
    ...(options.flags ?? []),
  ];
  const server = await startHttpServer('prometheus', flags, '/-/ready', temporary, options.port);
  const configure = async (config: string | object): Promise<void> => {
    await writeFile(file, configText(config));
    const answer = await fetch(`${server.url}/-/reload`, { method: 'POST' });
    if (!answer.ok) throw new Error(`Prometheus refuses its configuration: ${await answer.text()}`);
  };
  return { ...server, directory, configure };
}

/** JSON is YAML. */
function configText(config: string | object): string {
  return typeof config === 'string' ? config : JSON.stringify(config);
}
