import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Agent, fetch as fetchWith, type Headers, type RequestInit } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { EXCHANGES } from './exchanges.ts';
import { createAgentPod, startServer, type ConnectivityServer } from './world.ts';

/**
 * Requests and answers, one pair a file in golden/, in the order of EXCHANGES. `vitest -u` writes them again. A value that differs
 * from run to run is replaced by its kind.
 */
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgentPod(client, 'netchecker-agent-a');
  await createAgentPod(client, 'netchecker-agent-hostnet-a', { app: 'netchecker-agent-hostnet' });
});
let server: ConnectivityServer;
const FIRST_ADDRESS = 2;

beforeAll(async () => {
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous']);
  await vi.waitFor(async () => expect((await server.ask('/api/v1/connectivity_check')).status).toBe(400));
});
afterAll(() => server.kill());

/** The promise of the connectivity check. */
const LEAST_PAIRS = 40;
const PAIRS = EXCHANGES.map((exchange, n) => ({
  ...exchange,
  index: n,
  file: `${String(n + 1).padStart(2, '0')}-${exchange.name}`,
}));

it(`has at least ${LEAST_PAIRS} pairs, each with a file, and no other files`, async () => {
  const files = await readdir(fileURLToPath(new URL('golden', import.meta.url)));
  expect(files.sort()).toEqual(PAIRS.map(({ file }) => `${file}.txt`));
  expect(files.length).toBeGreaterThanOrEqual(LEAST_PAIRS);
});

describe('the answer to', () => {
  it.each(PAIRS)('$file', async ({ file, index, method, path, body }) => {
    const response = await fetchFrom(`127.0.0.${FIRST_ADDRESS + index}`, `http://127.0.0.1:${server.port}${path}`, {
      method,
      redirect: 'manual',
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    });
    const sent = body === undefined ? '' : `\n${body.length > 2_000 ? `(${body.length} bytes)` : body}\n`;
    const text = `${method} ${path}\n${sent}\n${response.status}\n${headersOf(response)}\n${stable(response.text)}`;
    await expect(text).toMatchFileSnapshot(`golden/${file}.txt`);
  });
});

/** An answer that was read. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** From an address of its own each time: reports without a token are limited to one per second, name and address. */
async function fetchFrom(localAddress: string, url: string, init: RequestInit): Promise<Answer> {
  const dispatcher = new Agent({ localAddress });
  const response = await fetchWith(url, { ...init, dispatcher });
  const text = await response.text();
  await dispatcher.close();
  return { status: response.status, headers: response.headers, text };
}

function headersOf({ headers }: Pick<Answer, 'headers'>): string {
  return ['content-type', 'location', 'allow']
    .flatMap((name) => (headers.has(name) ? [`${name}: ${headers.get(name)!}\n`] : []))
    .join('');
}

function stable(text: string): string {
  return text
    .replaceAll(/"last_updated":"[^"]*"/g, '"last_updated":"(time)"')
    .replaceAll(/"metadata":\{.*?\},"spec"/g, '"metadata":"(metadata)","spec"');
}
