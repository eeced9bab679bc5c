import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPrometheusClient, type PrometheusClient } from './prometheusClient.ts';

const ONE_SERIES = JSON.stringify({
  status: 'success',
  data: { resultType: 'vector', result: [{ metric: { device: 'eth0' }, value: [1, '2'] }] },
});
const QUESTION = {
  expression: 'up',
  visitor: { visit: () => undefined },
  signal: new AbortController().signal,
  timeoutMs: 8_000,
};

/** Until the test ends. */
function clientOf(url: string): PrometheusClient {
  const client = createPrometheusClient({ url });
  onTestFinished(() => client.close());
  return client;
}

describe('connections', () => {
  it.each([
    ['small', 10],
    ['large', 20_000],
  ])('are used again behind %s answers', async (_what, length) => {
    const result = Array.from({ length }, (_, n) => ({ metric: { device: `eth${n}` }, value: [1, '2'] }));
    const body = JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
    const real = createServer((_request, response) => response.end(body));
    let connections = 0;
    real.on('connection', () => connections++);
    const client = clientOf(await serving(real));
    for (let n = 0; n < 3; n++) expect(await client.query(QUESTION)).toMatchObject({ series: length });
    expect(connections).toBe(1);
  });
});

describe('a server that is not one', () => {
  it('is Unreachable when nobody listens', async () => {
    const url = await refusingUrl();
    await expect(clientOf(url).query(QUESTION)).rejects.toMatchObject({
      reason: 'Unreachable',
      message: `${url} can't be reached: ECONNREFUSED`,
    });
  });

  it('is Unreachable when it breaks off in the middle of the answer', async () => {
    const url = await serving(
      createServer((_request, response) => {
        response.writeHead(200, { 'Content-Length': '1000' });
        response.write('{"status":"success"', () => response.destroy());
      }),
    );
    await expect(clientOf(url).query(QUESTION)).rejects.toMatchObject({ reason: 'Unreachable' });
  });

  it('is not listened to any longer when it refuses', async () => {
    const real = createServer((_request, response) => {
      response.writeHead(401);
      response.write('and here is why: ');
    });
    const client = clientOf(await serving(real));
    const hungUp = new Promise((resolve) => {
      real.on('request', (_request, response: ServerResponse) => response.on('close', resolve));
    });
    await expect(client.query(QUESTION)).rejects.toMatchObject({ reason: 'Unauthorized' });
    await hungUp;
  });

  it('is asked once more when it resets the connection, and no more', async () => {
    let resets = 1;
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      if (resets-- > 0) request.socket.resetAndDestroy();
      else response.end(ONE_SERIES);
    });
    const url = await serving(server);
    expect(await clientOf(url).query(QUESTION)).toMatchObject({ series: 1 });
    resets = Infinity;
    await expect(clientOf(url).query(QUESTION)).rejects.toMatchObject({ reason: 'Unreachable' });
    expect(asked).toBe(4);
  });

  it('is a BadAnswer when it does not speak HTTP', async () => {
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
