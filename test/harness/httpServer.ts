import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { binary } from '../lab/binaries.ts';
import { freePorts, start, whenReady } from './process.ts';
import type { RunningProcess } from './process.ts';

/** A server with an HTTP address on loopback. */
export interface HttpServer {
  /** http://127.0.0.1:port */
  readonly url: string;
  /** 127.0.0.1:port, as in a scrape target. */
  readonly address: string;
  readonly pid: number;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts a server that has the flag `--web.listen-address`, logs into `directory`, and waits until `path` returns 2xx.
 */
export async function startHttpServer(
  name: string,
  flags: readonly string[],
  path: string,
  directory: string,
  wanted?: number,
): Promise<HttpServer> {
  const port = wanted ?? (await freePorts(1))[0]!;
  const address = `127.0.0.1:${port}`;
  const running = await startLogged(name, [`--web.listen-address=${address}`, ...flags], directory);
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await whenReady(name, running, async () => (await fetch(`http://${address}${path}`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://${address}`, address, pid: running.pid, stop };
}

async function startLogged(name: string, flags: readonly string[], directory: string): Promise<RunningProcess> {
  return start(await binary(name), flags, join(directory, `${name}.log`));
}
