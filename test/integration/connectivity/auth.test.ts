import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/report.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { NAMESPACES, PODS, SERVICE_ACCOUNTS } from '../../../src/runtime/client/resources.ts';
import { audited } from '../../harness/audit.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgents, deletePod, limitedUser, post, postInTime, tokenOf, WAIT, type Sent } from './authWorld.ts';
import { expectExactRights } from './exactRights.ts';
import { startServer, type ConnectivityServer } from './world.ts';

/**
 * Real bound tokens, a real API server with RBAC, and a server that has only the rights of its deployment. A tenant has created a pod with the
 * label and the name of the agent `same` in a namespace of its own. Who is refused why is a table in src/connectivity/server/auth.
 */
const AUDIENCE = 'traffic-operator-connectivity';
const API = 'https://kubernetes.default.svc';
const USER = 'connectivity-server';
const TENANT = 'tenant';
const CHECK = '/api/v1/connectivity_check';
const HOUR_S = 3_600;
const BINDINGS: Resource = {
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRoleBinding' },
  ...{ plural: 'clusterrolebindings', namespaced: false },
};

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgents(client, { a: 'n1', b: 'n2', gone: 'n1', same: 'n1' });
  await client.create(NAMESPACES, { metadata: { name: TENANT } });
  await client.create(SERVICE_ACCOUNTS, { metadata: { name: 'netchecker-agent', namespace: TENANT } });
  await createFalseAgent(client, 'same');
});
let kubeconfig: string;
let server: ConnectivityServer;
let isRunning = false;
let tokens: Record<'a' | 'b' | 'gone', string>;

async function createFalseAgent(client: Client, name: string): Promise<void> {
  const pod: V1Pod = {
    metadata: { name, namespace: TENANT, labels: { app: 'netchecker-agent' } },
    spec: {
      ...{ serviceAccountName: 'netchecker-agent', nodeName: 'n1' },
      containers: [{ name: 'agent', image: 'agent' }],
    },
  };
  await client.create(PODS, pod);
  const status = { status: { phase: 'Running' } };
  await client.mergePatch(PODS, { namespace: TENANT, name }, status, { fieldManager: 'test', subresource: 'status' });
}

/** Replaces the server. */
async function start(...args: string[]): Promise<void> {
  if (isRunning) await server.kill();
  server = await startServer(kubeconfig, args);
  isRunning = true;
}
const podsAreRead = () => vi.waitFor(async () => expect((await server.ask(CHECK)).status).toBe(400), WAIT);

beforeAll(async () => {
  kubeconfig = await limitedUser(scene.plane, scene.connected.client, USER);
  const token = (pod: string): Promise<string> => tokenOf(scene.connected, pod, AUDIENCE);
  const [a, b, gone] = await Promise.all([token('a'), token('b'), token('gone')]);
  tokens = { a, b, gone };
  await start();
  await podsAreRead();
});
afterAll(() => server.kill());

/** Waits while the rate of the agent's reports is limited, or a token cannot be verified. */
const report = (pod: string, sent: Sent, unverified?: () => void): ReturnType<typeof post> =>
  postInTime(server, pod, sent, unverified);

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

const reviews = (): number =>
  audited(scene.plane).filter(({ user, resource }) => user === USER && resource === 'tokenreviews').length;

describe('a report', () => {
  it('with the token of its pod is accepted, gets the node of the token, and costs one TokenReview', async () => {
    expect(await report('a', { token: tokens.a, node: 'n1' })).toMatchObject({ status: 200, text: '' });
    const before = reviews();
    let unverified = 0;
    for (let n = 0; n < 3; n++) {
      const sent = { token: tokens.b, node: '' };
      expect(await report('b', sent, () => (unverified += 1))).toMatchObject({ status: 200 });
    }
    // And one more for each that the API server did not answer in time.
    await vi.waitFor(() => expect(reviews()).toBe(before + 1 + unverified));
    expect((await server.ask('/api/v1/agents/b')).json()).toMatchObject({ spec: { nodename: 'n2' } });
  });

  it('as another pod, or about another node, is refused', async () => {
    expect(await report('b', { token: tokens.a, node: 'n2' })).toMatchObject({
      ...{ status: 403, text: 'podname is b: must be a, the pod of the token\n' },
    });
    expect(await report('a', { token: tokens.a, node: 'n2' })).toMatchObject({
      ...{ status: 403, text: 'nodename is n2: must be n1, the node of the pod a\n' },
    });
  });

  it('with a token of another audience, a changed token, or none, is refused without a TokenReview or with one', async () => {
    const before = reviews();
    const other = await tokenOf(scene.connected, 'a', 'other');
    const ofApi = await tokenOf(scene.connected, 'a', API);
    const claimNothingRight = [other, ofApi, 'x', 'a.b.c', undefined];
    // The claims of a valid token, and the signature of another.
    const [head, claims] = (await tokenOf(scene.connected, 'a', AUDIENCE)).split('.');
    const forged = `${head}.${claims}.${tokens.a.split('.')[2]}`;
    for (const token of [...claimNothingRight, forged]) {
      const { status, text } = await report('a', { token, node: 'n1' });
      expect(status).toBe(401);
      expect(text).toMatch(/^authorization: .* must be "Bearer" and a token .* for the audience traffic-operator-/);
      if (token !== undefined && token.length > 1) expect(text + server.log()).not.toContain(token);
    }
    // The last one: those before it claim nothing right.
    await vi.waitFor(() => expect(reviews()).toBe(before + 1));
  });

  it('with a token that has expired is refused, and with the same one before its end accepted', async () => {
    const fresh = resigned(tokens.a, (claims) => ({ ...claims, exp: claims.exp + 1 }));
    expect(await report('a', { token: fresh, node: 'n1' })).toMatchObject({ status: 200 });
    const now = Math.floor(Date.now() / 1_000);
    const past = { exp: now - 60, iat: now - HOUR_S, nbf: now - HOUR_S };
    const expired = resigned(tokens.a, (claims) => ({ ...claims, ...past }));
    expect(await report('a', { token: expired, node: 'n1' })).toMatchObject({ status: 401 });
  });

  it('of a name that no pod can have is refused before the token is looked at', async () => {
    expect(await post(server, 'No%20Pod', { token: tokens.a, node: '' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('the agent in the URL is "No%20Pod": must be a DNS subdomain') as string,
    });
  });

  it('is limited to one per second', async () => {
    const send = (): ReturnType<typeof post> => post(server, 'a', { token: tokens.a, node: 'n1' });
    const answers = await vi.waitFor(async () => {
      const from = performance.now();
      expect((await send()).status).toBe(200);
      const others = await Promise.all([1, 2, 3].map(send));
      // Those that take longer on a busy machine are not of one second.
      expect(performance.now() - from).toBeLessThan(800);
      return others;
    }, WAIT);
    expect(answers.map(({ status, retryAfter }) => [status, retryAfter])).toEqual([1, 2, 3].map(() => [429, '1']));
    expect(await report('b', { token: tokens.b, node: 'n2' })).toMatchObject({ status: 200 });
  });

  it.each([
    { bytes: 64 * 1024, status: 200, why: '64 KiB are allowed' },
    { bytes: 64 * 1024 + 1, status: 413, why: 'this is a byte more' },
  ])('of $bytes bytes has the status $status: $why', async ({ bytes, status }) => {
    const least = JSON.stringify({ report_interval: 60, nodename: 'n2', podname: 'b', padding: '' });
    const body = least.replace('""', `"${'x'.repeat(bytes - least.length)}"`);
    const headers = { authorization: `Bearer ${tokens.b}` };
    const send = async () => (await server.ask('/api/v1/agents/b', { method: 'POST', body, headers })).status;
    await vi.waitFor(async () => expect(await send()).toBe(status), { interval: 100 });
  });

  it('with the token of a deleted pod is refused at once', async () => {
    const { client } = scene.connected;
    expect(await report('gone', { token: tokens.gone, node: 'n1' })).toMatchObject({ status: 200 });
    const names = async (): Promise<unknown[]> =>
      (await client.list(AGENTS, { namespace: 'default' })).map(({ metadata }) => metadata?.name);
    await vi.waitFor(async () => expect(await names()).toContain('gone'), WAIT);
    await deletePod(scene.connected, 'gone');
    await vi.waitFor(async () => expect(await names()).not.toContain('gone'), WAIT);
    expect(await report('gone', { token: tokens.gone, node: 'n1' })).toMatchObject({
      ...{ status: 403, text: 'podname is gone: must be a pod of an agent in default\n' },
    });
  });
});

it('a token for the server is none for the API server, where its account may do nothing', async () => {
  const status = async (token: string) => (await fetchApi('/api/v1/namespaces/default/pods', token)).status;
  expect(await status(tokens.a)).toBe(401);
  // With a token that its pods do not have.
  expect(await status(await tokenOf(scene.connected, 'a', API))).toBe(403);
});

describe('a pod of another namespace with the label and the name of an agent', () => {
  /** The answers to a report as `same`, with the token of the agent and with the token of the tenant's pod. */
  async function answers(): Promise<Awaited<ReturnType<typeof post>>[]> {
    const own = await tokenOf(scene.connected, 'same', AUDIENCE);
    const foreign = await tokenOf(scene.connected, 'same', AUDIENCE, TENANT);
    return [await report('same', { token: own, node: 'n1' }), await report('same', { token: foreign, node: 'n1' })];
  }

  it('cannot report as it, nor can the agent, without a list of ServiceAccounts', async () => {
    const text = 'podname is same: must be the name of one agent, and there is one in default and in tenant\n';
    expect(await answers()).toMatchObject([1, 2].map(() => ({ status: 403, text })));
  });

  it('cannot report, and the agent can, if its ServiceAccount is not in the list', async () => {
    await start('-agent-service-account=default/netchecker-agent');
    // Reports that are stored keep a pod from being absent: this one has none.
    await vi.waitFor(async () => expect((await server.ask(CHECK)).text).toContain('same'), WAIT);
    const [own, foreign] = await answers();
    expect(own?.status).toBe(200);
    expect(foreign).toMatchObject({
      ...{
        status: 403,
        text: 'the ServiceAccount is tenant/netchecker-agent: must be one of default/netchecker-agent\n',
      },
    });
    await vi.waitFor(async () => {
      expect((await server.ask(CHECK)).json()).toMatchObject({
        Message: expect.stringMatching(/^All 3 pods/) as string,
      });
    }, WAIT);
  });
});

it('with -allow-anonymous, a report without a token is accepted and marked, but replaces none with a token', async () => {
  await start('-allow-anonymous');
  expect(await report('nobody', { token: undefined, node: '' })).toMatchObject({ status: 200 });
  expect(await report('nobody', { token: 'x', node: '' })).toMatchObject({ status: 401 });
  const annotations = { 'traffic.example.com/anonymous': 'true' };
  await vi.waitFor(async () => {
    const ref = { namespace: 'default', name: 'nobody' };
    expect((await scene.connected.client.get(AGENTS, ref)).metadata).toMatchObject({ annotations });
  });
  expect((await server.ask('/api/v1/agents/nobody')).json()).toMatchObject({ metadata: { annotations } });
  expect(await report('a', { token: tokens.a, node: 'n1' })).toMatchObject({ status: 200 });
  expect(await report('a', { token: undefined, node: 'n1' })).toMatchObject({ status: 401 });
  expect((await server.ask('/api/v1/agents/a')).text).not.toContain('traffic.example.com/anonymous');
});

it('the servers were refused nothing, and used every right that they have', async () => {
  // Watches of those before this one have ended.
  await vi.waitFor(() => expectExactRights(scene.plane, USER));
});

it('the check fails with the reason while the pods may not be read, and metrics have no 0', async () => {
  await scene.connected.client.delete(BINDINGS, { name: USER });
  await start();
  await vi.waitFor(async () => {
    const { status, text } = await server.ask(CHECK);
    expect([status, text]).toEqual([500, expect.stringContaining('is forbidden') as string]);
  }, WAIT);
  expect((await server.ask('/metrics')).text).not.toMatch(/^traffic_operator_connectivity_/m);
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
