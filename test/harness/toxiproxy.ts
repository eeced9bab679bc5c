import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from '../lab/binaries.ts';
import { freePorts, start, whenReady } from './process.ts';

/** A Toxiproxy (https://github.com/Shopify/toxiproxy) whose links a test can disturb. */
export interface Toxiproxy {
  /** Opens a port that forwards to `upstream`, host:port. @returns host:port of the link */
  link(name: string, upstream: string): Promise<string>;
  /** Adds a toxic to a link or changes it. With a toxicity, Toxiproxy draws lots again for every open connection. */
  spoil(link: string, toxic: Toxic): Promise<void>;
  stop(): Promise<void>;
}

export interface Toxic {
  type: 'latency' | 'reset_peer';
  /** Share of the connections that it affects. */
  toxicity: number;
  /** latency: delay of responses in milliseconds; reset_peer: milliseconds until the connection is reset. */
  attributes: { latency: number } | { timeout: number };
}

export async function startToxiproxy(): Promise<Toxiproxy> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-toxiproxy-'));
  const [port] = (await freePorts(1)) as [number];
  const flags = ['-host', '127.0.0.1', '-port', String(port)];
  const running = start(await binary('toxiproxy-server'), flags, `${directory}/toxiproxy.log`);
  const send = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  await whenReady('toxiproxy', running, async () => (await send('GET', '/version')).ok);
  return {
    link: async (name, upstream) => {
      const answer = await send('POST', '/proxies', { name, upstream, listen: '127.0.0.1:0', enabled: true });
      return ((await answer.json()) as { listen: string }).listen;
    },
    spoil: async (link, { type, toxicity, attributes }) => {
      const toxic = { name: type, type, stream: 'downstream', toxicity, attributes };
      const known = await send('POST', `/proxies/${link}/toxics/${type}`, toxic);
      const answer = known.ok ? known : await send('POST', `/proxies/${link}/toxics`, toxic);
      if (!answer.ok) throw new Error(`toxiproxy refuses ${type} on ${link}: ${await answer.text()}`);
    },
    stop: async () => {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
