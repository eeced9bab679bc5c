import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EVENTS } from '../../src/runtime/client/resources.ts';
import { binary } from '../lab/binaries.ts';
import { type Fixture, startFixture } from '../harness/fixture.ts';
import {
  EVERY_FAILURE,
  type Failure,
  type HostilePrometheus,
  SAID,
  startHostilePrometheus,
} from './hostilePrometheus.ts';

/** Marked secrets, calls that fail in every way that puts an error into a message, and a search of all that comes out. */
const WAIT = { timeout: 90_000, interval: 200 };
const BEARER = 'SECRET-bearer-eyJhbGciOi.x+y/z==';
const PASSWORD = 'SECRET-password: with  two blanks';
const TENANT = 'SECRET-tenant  7';
const API_KEY = 'SECRET-key/1';
const run = promisify(execFile);

let f: Fixture;
let server: HostilePrometheus;
let directory: string;
/** The ServiceAccount's token is also a secret. */
let kubeconfig: string;
let token: string;
/** All that came out of the operator so far. */
const seen: string[] = [];

const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await run(await binary('kubectl'), [`--kubeconfig=${f.controlPlane.kubeconfig}`, ...args])).stdout;

/** The secrets in every shape in which they travel. */
function secrets(): string[] {
  const pair = Buffer.from(`user-1:${PASSWORD}`).toString('base64');
  const plain = [BEARER, PASSWORD, TENANT, API_KEY, token, pair, SAID];
  // Texts are often put on one line, and cut: a part of a secret is one as well.
  const parts = plain.flatMap((text) => [text, text.replaceAll(/\s+/g, ' '), text.slice(0, 16)]);
  return [...new Set([...parts, ...parts.map(encodeURIComponent), 'SECRET'])];
}

const file = (name: string): string => join(directory, name);

async function lookEverywhere(): Promise<void> {
  const status = await kubectl('get', 'trafficwatches', '-A', '-ojson', '--show-managed-fields');
  const metrics = await (await fetch(f.operator().metricsUrl)).text();
  seen.push(status, metrics, f.operator().log());
}

/** The operator's own state of mind, once it has met the failure at least twice. */
async function meets(failure: Failure): Promise<void> {
  server.failBy(failure);
  const reachable = failure === 'warning' ? 'True' : 'False';
  await vi.waitFor(async () => {
    expect(server.asked()).toBeGreaterThan(2);
    const { conditions = [] } = (await f.watch('web')).status ?? {};
    expect(conditions.find(({ type }) => type === 'PrometheusReachable')?.status).toBe(reachable);
  }, WAIT);
  await lookEverywhere();
}

function expectNoSecrets(): void {
  const all = [...seen].join('\n');
  const leaks = secrets().flatMap((secret) => {
    const at = all.indexOf(secret);
    return at < 0 ? [] : [`${secret} in: ${all.slice(Math.max(0, at - 200), at + 100)}`];
  });
  expect(leaks).toEqual([]);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-secrets-'));
  await writeFile(file('token'), `${BEARER}\n`);
  await writeFile(file('password'), `${PASSWORD}\n`);
  [f, server] = await Promise.all([startFixture({ nodes: ['n1'] }), startHostilePrometheus()]);
  await kubectl('create', 'serviceaccount', 'marked');
  await kubectl(
    'create',
    'clusterrolebinding',
    'marked',
    '--clusterrole=cluster-admin',
    '--serviceaccount=default:marked',
  );
  token = (await kubectl('create', 'token', 'marked')).trim();
  kubeconfig = file('kubeconfig');
  const { url, directory: pki } = f.controlPlane;
  const cluster = { server: url, 'certificate-authority': `${pki}/ca.crt` };
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterAll(async () => {
  server.stop();
  await f.stop();
  await rm(directory, { recursive: true });
});

describe.each<[string, () => string[], string, readonly Failure[]]>([
  ['a bearer token', () => [`--prometheus-bearer-token-file=${file('token')}`], `Bearer ${BEARER}`, EVERY_FAILURE],
  [
    'a password',
    () => ['--prometheus-username=user-1', `--prometheus-password-file=${file('password')}`],
    `Basic ${Buffer.from(`user-1:${PASSWORD}`).toString('base64')}`,
    ['unauthorized', 'refusal', 'warning'],
  ],
])('with %s for Prometheus, two headers and a token for the API server', (_what, credentials, sent, failures) => {
  beforeAll(async () => {
    seen.length = 0;
    const headers = [`--prometheus-header=X-Scope-OrgID: ${TENANT}`, `--prometheus-header=X-Api-Key: ${API_KEY}`];
    const args = [...credentials(), ...headers, '--log-level=trace', '--leader-elect', '--namespace=default'];
    await f.startOperator(args, { kubeconfig, prometheusUrl: server.url });
  });

  it.each(failures)('nothing that comes out says one of them: %s', async (failure) => {
    await meets(failure);
    expect([...server.received()]).toEqual(expect.arrayContaining([sent, TENANT, API_KEY]));
    expectNoSecrets();
  });

  it('nor when the API server refuses and is gone', async () => {
    await kubectl('delete', 'clusterrolebinding', 'marked');
    await f.patchWatch('web', { spec: { maxBandwidthPercent: '20' } });
    await vi.waitFor(() => expect(f.operator().log()).toContain('"status":403'), WAIT);
    await lookEverywhere();
    await kubectl(
      'create',
      'clusterrolebinding',
      'marked',
      '--clusterrole=cluster-admin',
      '--serviceaccount=default:marked',
    );
    await f.controlPlane.stopApiServer();
    await vi.waitFor(() => expect(f.operator().log()).toContain('ECONNREFUSED'), WAIT);
    seen.push(f.operator().log());
    await f.controlPlane.startApiServer();
    await vi.waitFor(async () => expect((await f.watch('web')).status?.observedGeneration).toBe(2), WAIT);
    await lookEverywhere();
    expectNoSecrets();
  });

  it('nor does any event', async () => {
    const events = await f.client.list(EVENTS);
    expect(events.length).toBeGreaterThan(0);
    seen.push(JSON.stringify(events));
    await f.stopOperator();
    expectNoSecrets();
  });
});
