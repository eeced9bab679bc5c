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

/** The program to start. */
export interface ServerProgram {
  /** Name of the program. */
  name: string;
  /** Its arguments. @param address where to serve HTTP, 127.0.0.1:port */
  args: (address: string) => readonly string[];
  /** It is ready when this path returns 2xx. */
  readyPath: string;
  /** For the log. Removed when the server is stopped. */
  directory: string;
  /** Default: a free port. */
  port?: number | undefined;
}

/**
 * Starts a server that has the flag `--web.listen-address`, logs into `directory`, and waits until `path` returns 2xx.
 */
export function startHttpServer(
  name: string,
  flags: readonly string[],
  path: string,
  directory: string,
  wanted?: number,
): Promise<HttpServer> {
  const args = (address: string): string[] => [`--web.listen-address=${address}`, ...flags];
  return startServer({ name, args, readyPath: path, directory, port: wanted });
}

/** Starts a server and waits until it is ready. */
export async function startServer({ name, args, readyPath, directory, port }: ServerProgram): Promise<HttpServer> {
  const address = `127.0.0.1:${port ?? (await freePorts(1))[0]!}`;
  const running = await startLogged(name, args(address), directory);
  const stop = async (): Promise<void> => {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await whenReady(name, running, async () => (await fetch(`http://${address}${readyPath}`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://${address}`, address, pid: running.pid, stop };
}

async function startLogged(name: string, flags: readonly string[], directory: string): Promise<RunningProcess> {
  return start(await binary(name), flags, join(directory, `${name}.log`));
}
