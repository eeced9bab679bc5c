import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startLocalServer, type Handler, type LocalServer } from '../runtime/testing/localServer.ts';
import { createPrometheusClient, type PrometheusClient } from './prometheusClient.ts';

const QUESTION = {
  expression: 'up',
  visitor: { visit: () => undefined },
  signal: new AbortController().signal,
  timeoutMs: 8_000,
};

function vector(result: readonly unknown[]): unknown {
  return { status: 'success', data: { resultType: 'vector', result } };
}

/** Runs until the test ends. */
async function localServer(handler: Handler): Promise<LocalServer> {
  const local = await startLocalServer(handler);
  onTestFinished(() => local.close());
  return local;
}

/** Open until the test ends. */
function clientOf(url: string): PrometheusClient {
  const client = createPrometheusClient({ url });
  onTestFinished(() => client.close());
  return client;
}

describe('connections', () => {
  it.each([
    ['small', 10],
    ['large', 20_000],
  ])('are reused after %s answers', async (_what, length) => {
    const result = Array.from({ length }, (_, n) => ({ metric: { device: `eth${n}` }, value: [1, '2'] }));
    const local = await localServer((_request, reply) => reply.json(200, vector(result)));
    const client = clientOf(local.url);
    for (let n = 0; n < 3; n++) expect(await client.query(QUESTION)).toMatchObject({ series: length });
    expect(local.connections).toBe(1);
  });
});

describe('a server that fails', () => {
  it('is Unreachable if it refuses connections', async () => {
    const url = await refusingUrl();
    await expect(clientOf(url).query(QUESTION)).rejects.toMatchObject({
      reason: 'Unreachable',
      message: `cannot connect to ${url}: ECONNREFUSED`,
    });
  });

  it('is Unreachable if it closes the connection in the middle of the answer', async () => {
    const url = await serving(
      createServer((_request, response) => {
        response.writeHead(200, { 'Content-Length': '1000' });
        response.write('{"status":"success"', () => response.destroy());
      }),
    );
    await expect(clientOf(url).query(QUESTION)).rejects.toMatchObject({ reason: 'Unreachable' });
  });

  it('is disconnected after an error status, without reading its body', async () => {
    const local = await localServer((_request, reply) => reply.open(401).write('and here is why: '));
    await expect(clientOf(local.url).query(QUESTION)).rejects.toMatchObject({ reason: 'Unauthorized' });
    await vi.waitFor(() => expect(local.open).toBe(0));
  });

  it('gets one retry if it resets the connection', async () => {
    let resets = 1;
    const local = await localServer((_request, reply) => {
      if (resets-- > 0) reply.reset();
      else reply.json(200, vector([{ metric: { device: 'eth0' }, value: [1, '2'] }]));
    });
    expect(await clientOf(local.url).query(QUESTION)).toMatchObject({ series: 1 });
    resets = Infinity;
    await expect(clientOf(local.url).query(QUESTION)).rejects.toMatchObject({ reason: 'Unreachable' });
    expect(local.requests).toHaveLength(4);
  });

  it('is a BadAnswer if it does not speak HTTP', async () => {
    const url = await serving(createTcpServer((socket) => socket.end('220 hunter2 ESMTP\r\n')));
    await expect(clientOf(url).query(QUESTION)).rejects.toMatchObject({ reason: 'BadAnswer' });
    await expect(clientOf(url).query(QUESTION)).rejects.not.toThrow('hunter2');
  });
});

type AnyServer = ReturnType<typeof createTcpServer>;

/** Serves on loopback until the test ends. */
async function serving(real: AnyServer): Promise<string> {
  await new Promise<void>((resolve) => real.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    real.close();
  });
  return `http://127.0.0.1:${(real.address() as AddressInfo).port}`;
}

async function refusingUrl(): Promise<string> {
  const real = createTcpServer();
  const url = await serving(real);
  await new Promise((resolve) => real.close(resolve));
  return url;
}
