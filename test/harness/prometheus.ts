import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHttpServer } from './httpServer.ts';
import type { HttpServer } from './httpServer.ts';

/** A real Prometheus. */
export interface RunningPrometheus extends HttpServer {
  /** Base directory of relative paths in the configuration, such as paths of file_sd. */
  readonly directory: string;
  /** Writes a new configuration and reloads it. Throws if Prometheus rejects it. */
  configure(config: string | object): Promise<void>;
}

/**
 * Starts a Prometheus. `config` is prometheus.yml, as text or as an object. It is written to `dir`, a directory of the
 * caller, which is not removed, or to a temporary directory. `flags` are additional flags, `port` is a free port.
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

/** JSON is valid YAML. */
function configText(config: string | object): string {
  return typeof config === 'string' ? config : JSON.stringify(config);
}
