import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
import { TOKEN_REVIEWS } from '../../../src/runtime/server/metricsServer/access.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgents, deletePod, limitedUser, post, postInTime, tokenOf, WAIT, type Sent } from './authWorld.ts';
import { expectExactRights } from './exactRights.ts';
import { startServer, type ConnectivityServer } from './world.ts';

/** Real bound tokens, a real API server with RBAC, and a server that has only the rights of its deployment. */
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgents(client, { a: 'n1', b: 'n2', later: 'n2', gone: 'n1' });
});
const AUDIENCE = 'traffic-operator-connectivity';
const USER = 'connectivity-server';
/** When the API server was away, wall clock ms. */
const restart = { from: 0, to: 0 };
let kubeconfig: string;
let server: ConnectivityServer;
let tokens: Record<'a' | 'b' | 'later' | 'gone', string>;

beforeAll(async () => {
  kubeconfig = await limitedUser(scene.plane, scene.connected.client, USER);
  const token = (pod: string): Promise<string> => tokenOf(scene.connected, pod, AUDIENCE);
  const [a, b, later, gone] = await Promise.all([token('a'), token('b'), token('later'), token('gone')]);
  tokens = { a, b, later, gone };
  server = await startServer(kubeconfig);
  await vi.waitFor(async () => expect((await server.ask('/api/v1/connectivity_check')).status).toBe(400));
});
afterAll(() => server.kill());

/** Waits while the rate of the agent's reports is limited, or a token cannot be verified. */
const report = (pod: string, sent: Sent): ReturnType<typeof post> => postInTime(server, pod, sent);

describe('a report', () => {
  it('with the token of its pod is accepted, and gets the node of the token', async () => {
    expect(await report('a', { token: tokens.a, node: 'n1' })).toMatchObject({ status: 200, text: '' });
    expect(await report('b', { token: tokens.b, node: '' })).toMatchObject({ status: 200 });
    expect((await server.ask('/api/v1/agents/b')).json()).toMatchObject({ spec: { nodename: 'n2' } });
  });

  it('as the pod of another node is refused', async () => {
    expect(await report('b', { token: tokens.a, node: 'n2' })).toMatchObject({
      status: 403,
      text: 'podname is b: must be a, the pod of the token\n',
    });
  });

  it('about another node is refused', async () => {
    expect(await report('a', { token: tokens.a, node: 'n2' })).toMatchObject({
      status: 403,
      text: 'nodename is n2: must be n1, the node of the pod a\n',
    });
  });

  it('with a token of another audience, a changed token, or none, is refused', async () => {
    const foreign = await tokenOf(scene.connected, 'a', 'other');
    // The claims of a valid token, and the signature of another.
    const [head, claims] = (await tokenOf(scene.connected, 'a', AUDIENCE)).split('.');
    const forged = `${head}.${claims}.${tokens.a.split('.')[2]}`;
    for (const token of [foreign, forged, 'x', undefined]) {
      const { status, text } = await report('a', { token, node: 'n1' });
      expect(status).toBe(401);
      expect(text).toMatch(/^authorization: .* must be "Bearer" and a token .* for the audience traffic-operator-/);
      if (token !== undefined && token.length > 1) expect(text + server.log()).not.toContain(token);
    }
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
});

it('while the API server is away, a known agent goes on and an unknown one gets 503', async () => {
  restart.from = Date.now();
  await scene.plane.stopApiServer();
  const known = await vi.waitFor(async () => {
    const answer = await post(server, 'a', { token: tokens.a, node: 'n1' });
    expect(answer.status).not.toBe(429);
    return answer;
  }, WAIT);
  expect(known).toMatchObject({ status: 200 });
  expect(await post(server, 'later', { token: tokens.later, node: 'n2' })).toMatchObject({ status: 503 });
  await scene.plane.startApiServer();
  restart.to = Date.now();
  expect(await report('later', { token: tokens.later, node: 'n2' })).toMatchObject({ status: 200 });
});

it('the token of a deleted pod is refused at once, also by a server that has not verified it', async () => {
  const { client } = scene.connected;
  expect(await report('gone', { token: tokens.gone, node: 'n1' })).toMatchObject({ status: 200 });
  const names = async (): Promise<unknown[]> =>
    (await client.list(AGENTS, { namespace: 'default' })).map(({ metadata }) => metadata?.name);
  await vi.waitFor(async () => expect(await names()).toContain('gone'), WAIT);
  await deletePod(scene.connected, 'gone');
  await vi.waitFor(async () => expect(await names()).not.toContain('gone'), WAIT);
  expect(await report('gone', { token: tokens.gone, node: 'n1' })).toMatchObject({
    status: 403,
    text: 'podname is gone: must be a pod of an agent in default\n',
  });
  // The API server has a cache of its own, of 10 s.
  const review = { spec: { token: tokens.gone, audiences: [AUDIENCE] } };
  await vi.waitFor(
    async () => expect((await client.create(TOKEN_REVIEWS, review)).status?.authenticated).not.toBe(true),
    { interval: 1_000 },
  );
  await server.kill();
  server = await startServer(kubeconfig);
  await vi.waitFor(async () =>
    expect(await report('gone', { token: tokens.gone, node: 'n1' })).toMatchObject({ status: 403 }),
  );
});

describe('with -allow-anonymous', () => {
  beforeAll(async () => {
    await server.kill();
    server = await startServer(kubeconfig, ['-allow-anonymous']);
  });

  it('a report without a token is accepted and marked, one with a bad token is not', async () => {
    expect(await report('nobody', { token: undefined, node: '' })).toMatchObject({ status: 200 });
    expect(await report('nobody', { token: 'x', node: '' })).toMatchObject({ status: 401 });
    const annotations = { 'traffic.example.com/anonymous': 'true' };
    await vi.waitFor(async () => {
      const ref = { namespace: 'default', name: 'nobody' };
      expect((await scene.connected.client.get(AGENTS, ref)).metadata).toMatchObject({ annotations });
    });
    expect((await server.ask('/api/v1/agents/nobody')).json()).toMatchObject({ metadata: { annotations } });
  });

  it('a report without a token does not replace one with a token, but the other way round', async () => {
    expect(await report('a', { token: tokens.a, node: 'n1' })).toMatchObject({ status: 200 });
    expect(await report('a', { token: undefined, node: 'n1' })).toMatchObject({ status: 401 });
    expect((await server.ask('/api/v1/agents/a')).text).not.toContain('traffic.example.com/anonymous');
  });
});

it('the server was refused nothing, and used every right that it has', async () => {
  await server.kill();
  await vi.waitFor(() => expectExactRights(scene.plane, USER, restart));
  server = await startServer(kubeconfig);
});
