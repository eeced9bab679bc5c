import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createServerClient, ServerError } from './serverClient.ts';
import { evaluation } from '../testing/scenes.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Asks a server that answers with `respond`. Returns the evaluations, or the error if the request fails. */
async function askOf(respond: (response: ServerResponse) => unknown): Promise<unknown> {
  server = createServer((_request, response) => void respond(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createServerClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined);
  try {
    return await client.ask(new AbortController().signal);
  } catch (error) {
    return error instanceof ServerError ? error.reason : error;
  } finally {
    server.closeAllConnections();
    await client.close();
  }
}

it('reads the evaluation of each check', async () => {
  const evaluations = { cluster: evaluation() };
  expect(await askOf((response) => response.end(JSON.stringify(evaluations)))).toMatchObject(evaluations);
});

it.each<{ why: string; respond: (response: ServerResponse) => unknown; reason: string }>([
  { why: 'it answers without JSON', respond: (a) => a.end('<html>'), reason: 'ServerBadAnswer' },
  { why: 'it has other fields', respond: (a) => a.end('{"cluster":{"generation":"x"}}'), reason: 'ServerBadAnswer' },
  { why: 'it answers too much', respond: (a) => a.end('"'.padEnd(5 * 1024 * 1024)), reason: 'ServerTooLarge' },
  { why: 'it answers with an error', respond: (a) => a.writeHead(503).end('no'), reason: 'ServerBadStatus' },
  { why: 'it never ends its answer', respond: (a) => a.write('{'), reason: 'ServerDeadline' },
  { why: 'it breaks off', respond: (a) => a.destroy(), reason: 'ServerUnreachable' },
])('is given no evaluations if $why', async ({ respond, reason }) => {
  expect(await askOf(respond)).toBe(reason);
});
