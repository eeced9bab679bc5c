import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PrometheusEndpoint } from '../../src/prometheus/endpoint.ts';
import type { Snapshot } from '../../src/usage/evaluate/snapshot.ts';
import { createAuthority } from '../harness/pki.ts';
import { freePorts } from '../harness/process.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import type { RunningPrometheus } from '../harness/prometheus.ts';
import { snapshotWhen } from './usageSnapshot.ts';

const CONFIG = { scrape_configs: [] };
const PREFIX = '/team/prometheus';
let directory: string;
let prometheus: RunningPrometheus;
let gate: Server;
let url: string;
/** The credential that the gate requires, and its delay. */
let wanted: string;
let delayMs: number;

/** Stands before Prometheus as an authenticating proxy does: TLS by a CA of its own, a path prefix, two headers. */
async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { authorization, 'x-scope-orgid': tenant } = request.headers;
  if (authorization !== wanted || tenant !== 'tenant-7' || !request.url?.startsWith(PREFIX)) {
    response.writeHead(401).end('who are you?');
    return;
  }
  await sleep(delayMs, undefined, { ref: false });
  const answer = await fetch(prometheus.url + request.url.slice(PREFIX.length));
  response.writeHead(answer.status).end(await answer.text());
}

function file(name: string): string {
  return join(directory, name);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-gate-'));
  await createAuthority(directory);
  const [key, cert] = await Promise.all([readFile(file('apiserver.key')), readFile(file('apiserver.crt'))]);
  gate = createServer(
    { key, cert },
    (request, response) => void pass(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(gate.address() as AddressInfo).port}${PREFIX}`;
  prometheus = await startPrometheus({ config: CONFIG });
});
beforeEach(async () => {
  wanted = 'Bearer first';
  delayMs = 0;
  await writeFile(file('token'), 'first\n');
});
afterAll(async () => {
  gate.closeAllConnections();
  gate.close();
  await prometheus.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Passes over the endpoint until one is as it is wanted. */
function asked(endpoint: Partial<PrometheusEndpoint>, satisfied: (snapshot: Snapshot) => void, deadlineMs = 30_000) {
  const whole = { url, headers: { 'X-Scope-OrgID': 'tenant-7' }, caFile: file('ca.crt'), ...endpoint };
  return snapshotWhen({ url, nodes: {}, options: { endpoint: whole, deadlineMs } }, satisfied);
}

const answers = ({ ok, error }: Snapshot) => expect([ok, error]).toEqual([true, undefined]);
const fails = (reason: string) => (snapshot: Snapshot) => expect(snapshot.error?.reason).toBe(reason);

describe('a Prometheus behind TLS, a path prefix and authentication', () => {
  it('answers to a CA file, a token file and extra headers', async () => {
    await asked({ bearerTokenFile: file('token') }, answers);
  });

  it('answers to a name and a password file', async () => {
    await writeFile(file('password'), 'pass:word\n');
    wanted = `Basic ${btoa('me:pass:word')}`;
    await asked({ basicAuth: { username: 'me', passwordFile: file('password') } }, answers);
  });

  it('goes on answering when the token is replaced: no pass fails', async () => {
    let failures = 0;
    await asked({ bearerTokenFile: file('token') }, ({ ok, pass }) => {
      if (!ok) failures++;
      if (pass === 3) {
        writeFileSync(file('token'), 'second');
        wanted = 'Bearer second';
      }
      expect(pass).toBeGreaterThan(6);
    });
    expect(failures).toBe(0);
  });

  it('is not trusted without the CA file, and the message says what helps', async () => {
    const { error } = await snapshotWhen({ url, nodes: {} }, fails('Unreachable'));
    expect(error?.message).toContain('set a CA file with the CA that signed it');
  });

  it('is asked again when it was slower than the deadline', async () => {
    delayMs = 60_000;
    const { error } = await asked({ bearerTokenFile: file('token') }, fails('Deadline'), 300);
    expect(error?.message).toBe('no complete answer within 0.3 s');
    delayMs = 0;
    await asked({ bearerTokenFile: file('token') }, answers);
  });

  it('does not tell a wrong token to anybody', async () => {
    await writeFile(file('token'), 'hunter2');
    const snapshot = await asked({ bearerTokenFile: file('token') }, fails('Unauthorized'));
    expect(JSON.stringify({ ...snapshot, nodes: [] })).not.toContain('hunter2');
  });
});

describe('a Prometheus that is stopped', () => {
  it('is unreachable, and answers again when it is back', async () => {
    const [port] = (await freePorts(1)) as [number];
    const first = await startPrometheus({ config: CONFIG, port });
    const seen: string[] = [];
    const refused = `cannot connect to ${first.url}: ECONNREFUSED`;
    let stopped: Promise<void> | undefined;
    let second: Promise<RunningPrometheus> | undefined;
    await snapshotWhen({ url: first.url, nodes: {} }, ({ ok, error }) => {
      const now = ok ? 'ok' : error!.message;
      if (seen.at(-1) !== now) seen.push(now);
      stopped ??= first.stop();
      if (now === refused) second ??= startPrometheus({ config: CONFIG, port });
      expect([seen.includes(refused), now]).toEqual([true, 'ok']);
    });
    await (await second!).stop();
    expect(seen[0]).toBe('ok');
  });
});
