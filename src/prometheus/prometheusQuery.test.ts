import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PrometheusDriver } from 'prometheus-query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPrometheusClient } from './prometheusClient.ts';

/** Compares the parser of prometheus-query with ours, to show why we do not use it. See docs/dependencies.md. */
let server: Server;
let url: string;
let body: unknown;

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

function answer(result: readonly unknown[], remarks = {}): void {
  body = { status: 'success', data: { resultType: 'vector', result }, ...remarks };
}

const one = (sample: object): object => ({ metric: { device: 'eth0' }, ...sample });

async function askLibrary(): Promise<{ values: unknown[]; warnings: unknown[] }> {
  const warnings: unknown[] = [];
  const driver = new PrometheusDriver({ endpoint: url, warningHook: (all) => warnings.push(...(all as unknown[])) });
  const { result } = await driver.instantQuery('up');
  const values = (result as { value: { value: number } }[]).map(({ value }) => value.value);
  return { values, warnings };
}

async function askOurs() {
  const client = createPrometheusClient({ url });
  const values: unknown[] = [];
  const visit = (series: unknown): void => void values.push((series as { value?: [number, string] }).value?.[1]);
  const signal = new AbortController().signal;
  try {
    return { ...(await client.query({ expression: 'up', visitor: { visit }, signal, timeoutMs: 8_000 })), values };
  } finally {
    client.close();
  }
}

describe('prometheus-query', () => {
  it.each([
    ['12abc', 12, 'a text that only begins with a number becomes a number'],
    ['0x10', 0, 'a hexadecimal number becomes another number'],
    ['+Inf', NaN, 'the original text is lost'],
  ])('reads the sample %j as %d: %s', async (text, read) => {
    answer([one({ value: [1.5, text] })]);
    expect((await askLibrary()).values).toEqual([read]);
    expect((await askOurs()).values).toEqual([text]);
  });

  it('fails for the whole answer because of one native histogram', async () => {
    answer([one({ value: [1.5, '7'] }), one({ histogram: [1.5, { count: '1' }] })]);
    await expect(askLibrary()).rejects.toThrow(TypeError);
    expect((await askOurs()).values).toEqual(['7', undefined]);
  });

  it('loses warnings and infos', async () => {
    answer([], { warnings: ['partial result'], infos: ['not a counter'] });
    expect((await askLibrary()).warnings).toEqual([]);
    expect(await askOurs()).toMatchObject({ warnings: ['partial result'], infos: ['not a counter'] });
  });
});
