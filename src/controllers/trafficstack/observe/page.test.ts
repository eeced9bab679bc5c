import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { getPage } from './probes.ts';

const NEVER = new AbortController().signal;
let server: Server;
let url: string;
let sent = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/metrics') return void response.end('node_network 1');
    if (request.url === '/moved') return void response.writeHead(302, { location: '/metrics' }).end();
    const more = (): void => {
      sent += 1;
      response.write('x'.repeat(64 * 1024), () => setImmediate(more));
    };
    if (request.url === '/endless') more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('gets the text of a page', async () => {
  expect(await getPage(`${url}/metrics`, NEVER)).toBe('node_network 1');
});

it('follows no redirect', async () => {
  await expect(getPage(`${url}/moved`, NEVER)).rejects.toThrow('status 302');
});

it('reads a MiB of an endless page', async () => {
  const page = await getPage(`${url}/endless`, NEVER);
  expect(page.length).toBeGreaterThanOrEqual(1024 * 1024);
  expect(page.length).toBeLessThan(2 * 1024 * 1024);
  expect(sent).toBeGreaterThan(0);
});

it('is called off', async () => {
  await expect(getPage(`${url}/hangs`, AbortSignal.timeout(50))).rejects.toThrow();
});
