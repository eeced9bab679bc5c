import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthority } from '../../../src/runtime/testing/certificates.ts';
import { exchange, openRaw } from '../../../src/runtime/testing/rawHttp.ts';
import { residentBytes } from '../../harness/processUse.ts';
import { freePorts } from '../../harness/process.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { hostileClients } from '../hostileBytes.ts';
import { startServer, type ConnectivityServer } from './world.ts';

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_125);
const COUNT = 500;
/** As for the operator's servers: a garbage collection frees it. */
const GROWTH = 100 * 2 ** 20;
const BODY = JSON.stringify({ report_interval: 60, nodename: '', podname: 'good' });

const scene = useConnectedPlane();
let server: ConnectivityServer;

beforeAll(async () => {
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous']);
});
afterAll(() => server.kill());

it(`a good report succeeds after ${COUNT} hostile requests, and memory is bounded (seed ${SEED})`, async () => {
  const before = residentBytes(server.pid);
  const open = hostileClients('tcp', SEED, COUNT).map(({ bytes }, index) => {
    const connection = openRaw(server.port);
    connection.send(bytes);
    // A body of a report that does not end, and one with a token that is none.
    if (index % 5 === 0) {
      const header = index % 2 === 0 ? 'Authorization: Bearer a.b.c\r\n' : '';
      connection.send(`POST /api/v1/agents/p${index} HTTP/1.1\r\nHost: x\r\n${header}Content-Length: 60000\r\n\r\n{"`);
    }
    return connection;
  });
  const init = { method: 'POST', body: BODY };
  expect(await server.ask('/api/v1/agents/good', init)).toMatchObject({ status: 200 });
  expect(residentBytes(server.pid) - before).toBeLessThan(GROWTH);
  for (const { socket } of open) socket.destroy();
});

it('a refused report is answered before its body comes', async () => {
  const head = 'POST /api/v1/agents/a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic x\r\nContent-Length: 60000\r\n\r\n';
  expect(await exchange(server.port, head)).toMatch(/^HTTP\/1.1 401 /);
});

it('with a certificate it speaks HTTPS only', async () => {
  const directory = join(scene.plane.directory, 'server-certificate');
  await mkdir(directory);
  const { cert, key } = createAuthority('server').issue('server');
  await writeFile(join(directory, 'tls.crt'), cert);
  await writeFile(join(directory, 'tls.key'), key);
  const port = (await freePorts(1))[0]!;
  const secure = await startServer(scene.plane.kubeconfig, [`-tls-cert-path=${directory}`], port, () => pingTls(port));
  try {
    expect(await pingTls(port)).toBe(200);
    await expect(secure.ask('/api/v1/ping')).rejects.toThrow();
  } finally {
    await secure.kill();
  }
});

function pingTls(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/api/v1/ping', agent: false, rejectUnauthorized: false };
    request(options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });
}
