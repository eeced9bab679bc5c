import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
import { audited } from '../../harness/audit.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgents, limitedUser, postInTime, tokenOf } from './authWorld.ts';
import { startServer, type ConnectivityServer } from './world.ts';

/** Tokens that a real API server has issued, or could have. */
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgents(client, { a: 'n1', b: 'n1' });
});
const AUDIENCE = 'traffic-operator-connectivity';
const API = 'https://kubernetes.default.svc';
const USER = 'connectivity-server';
const HOUR_S = 3_600;
let server: ConnectivityServer;

beforeAll(async () => {
  server = await startServer(await limitedUser(scene.plane, scene.connected.client, USER));
  await vi.waitFor(async () => expect((await server.ask('/api/v1/connectivity_check')).status).not.toBe(500));
});
afterAll(() => server.kill());

interface Claims {
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
}

/** The token with other times, signed with the key of the API server. */
function resigned(token: string, change: (claims: Claims) => Claims): string {
  const [head = '', payload = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  const text = `${head}.${Buffer.from(JSON.stringify(change(claims))).toString('base64url')}`;
  const key = readFileSync(`${scene.plane.directory}/sa.key`);
  const signature = createSign('SHA256').update(text).sign({ key, dsaEncoding: 'ieee-p1363' }, 'base64url');
  return `${text}.${signature}`;
}

/** Waits while the rate of the agent's reports is limited, or a token cannot be verified. */
async function statusOf(pod: string, token: string, unverified?: () => void): Promise<number> {
  return (await postInTime(server, pod, { token, node: 'n1' }, unverified)).status;
}

const reviews = (): number =>
  audited(scene.plane).filter(({ user, resource }) => user === USER && resource === 'tokenreviews').length;

it('a token that has expired is refused, and the same one is accepted before', async () => {
  const token = await tokenOf(scene.connected, 'a', AUDIENCE);
  const fresh = resigned(token, (claims) => ({ ...claims, exp: claims.exp + 1 }));
  expect(await statusOf('a', fresh)).toBe(200);
  const times = { exp: -60, iat: -HOUR_S, nbf: -HOUR_S };
  const expired = resigned(token, (claims) => ({
    ...claims,
    ...Object.fromEntries(Object.entries(times).map(([name, s]) => [name, Math.floor(Date.now() / 1_000) + s])),
  }));
  expect(await statusOf('a', expired)).toBe(401);
});

it('a token of the API server itself is refused, and one for the server is none for the API server', async () => {
  expect(await statusOf('a', await tokenOf(scene.connected, 'a', API))).toBe(401);
  const status = async (token: string): Promise<number> => {
    const got = await fetchApi('/api/v1/namespaces/default/pods', token);
    return got.status;
  };
  expect(await status(await tokenOf(scene.connected, 'a', AUDIENCE))).toBe(401);
  // What the account may do with a token that its pods do not have: nothing.
  expect(await status(await tokenOf(scene.connected, 'a', API))).toBe(403);
});

describe('reports with one token', () => {
  it('cost one TokenReview', async () => {
    const token = await tokenOf(scene.connected, 'b', AUDIENCE);
    const before = reviews();
    let unverified = 0;
    for (let n = 0; n < 4; n++) expect(await statusOf('b', token, () => (unverified += 1))).toBe(200);
    // And one more for each that the API server did not answer in time.
    await vi.waitFor(() => expect(reviews()).toBe(before + 1 + unverified));
  });

  it('that claims nothing right cost none', async () => {
    const before = reviews();
    const other = await tokenOf(scene.connected, 'b', 'other');
    for (const token of [other, 'x', 'a.b.c']) expect(await statusOf('b', token)).toBe(401);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(reviews()).toBe(before);
  });
});

describe('the body of a report', () => {
  it.each([
    ['64 KiB', 64 * 1024, 200],
    ['a byte more', 64 * 1024 + 1, 413],
  ])('of %s', async (_, bytes, status) => {
    const token = await tokenOf(scene.connected, 'b', AUDIENCE);
    const least = JSON.stringify({ report_interval: 60, nodename: 'n1', podname: 'b', padding: '' });
    const body = least.replace('""', `"${'x'.repeat(bytes - least.length)}"`);
    const headers = { authorization: `Bearer ${token}` };
    await vi.waitFor(
      async () => expect((await server.ask('/api/v1/agents/b', { method: 'POST', body, headers })).status).toBe(status),
      { interval: 100 },
    );
  });
});

function fetchApi(path: string, token: string): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, agent: false };
    request(`${scene.plane.url}${path}`, options, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode ?? 0 });
    })
      .on('error', reject)
      .end();
  });
}
