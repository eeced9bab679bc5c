import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageEnvironment } from '../../harness/imageEnvironment.ts';
import { freePorts, start, whenReady } from '../../harness/process.ts';
import { residentBytes } from '../../harness/processUse.ts';

/** Answers every request with nothing, and keeps the connection. */
const PROGRAM = `
const server = require('node:http').createServer((request, response) => response.end());
server.keepAliveTimeout = 600_000;
server.listen(Number(process.argv[1]), '127.0.0.1');
`;
const REQUEST = 'GET / HTTP/1.1\r\nHost: bare\r\n\r\n';
/** Connections that are opened at once. */
const AT_ONCE = 100;

/**
 * Resident memory of a bare HTTP server of Node.js with idle connections, in the environment of the image: what no server with
 * as many clients goes below. Bytes.
 */
export async function bareServerBytes(connections: number): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-bench-bare-'));
  const [port] = (await freePorts(1)) as [number];
  Object.assign(process.env, imageEnvironment());
  const running = start(process.execPath, ['-e', PROGRAM, String(port)], join(directory, 'log'));
  const sockets: Socket[] = [];
  try {
    await whenReady('bare server', running, async () => (await fetch(`http://127.0.0.1:${port}/`)).ok);
    while (sockets.length < connections) {
      const count = Math.min(AT_ONCE, connections - sockets.length);
      sockets.push(...(await Promise.all(Array.from({ length: count }, () => answered(port)))));
    }
    return residentBytes(running.pid);
  } finally {
    for (const socket of sockets) socket.destroy();
    await running.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A connection that had one answer. */
function answered(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write(REQUEST));
    socket.once('data', () => resolve(socket));
    socket.once('error', reject);
  });
}
