import type { V1Pod } from '@kubernetes/client-node';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
import type { Client } from '../../../src/runtime/client/client.ts';
import type { Resource } from '../../../src/runtime/client/resource.ts';
import { NAMESPACES, PODS, SERVICE_ACCOUNTS } from '../../../src/runtime/client/resources.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createAgents, limitedUser, postInTime, tokenOf, WAIT, type post } from './authWorld.ts';
import { startServer, type ConnectivityServer } from './world.ts';

/**
 * A tenant creates pods with the label of an agent in a namespace of its own: `same` has the name of an agent, `other`
 * has not. Their tokens are real.
 */
const TENANT = 'tenant';
const AUDIENCE = 'traffic-operator-connectivity';
const CHECK = '/api/v1/connectivity_check';

const BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};
const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await createAgents(client, { same: 'n1' });
  await client.create(NAMESPACES, { metadata: { name: TENANT } });
  await client.create(SERVICE_ACCOUNTS, { metadata: { name: 'netchecker-agent', namespace: TENANT } });
  for (const name of ['same', 'other']) await createFalseAgent(client, name);
});
const USER = 'connectivity-server';
let kubeconfig: string;
let server: ConnectivityServer;

beforeAll(async () => {
  kubeconfig = await limitedUser(scene.plane, scene.connected.client, USER);
});
afterEach(() => server.kill());

async function createFalseAgent(client: Client, name: string): Promise<void> {
  const pod: V1Pod = {
    metadata: { name, namespace: TENANT, labels: { app: 'netchecker-agent' } },
    spec: {
      serviceAccountName: 'netchecker-agent',
      nodeName: 'n1',
      containers: [{ name: 'agent', image: 'agent' }],
    },
  };
  await client.create(PODS, pod);
  const status = { status: { phase: 'Running' } };
  await client.mergePatch(PODS, { namespace: TENANT, name }, status, { fieldManager: 'test', subresource: 'status' });
}

async function start(args: readonly string[] = []): Promise<void> {
  server = await startServer(kubeconfig, args);
  // The pods are read.
  await vi.waitFor(async () => expect((await server.ask(CHECK)).status).toBe(400), WAIT);
}

/** The answers to a report as `same`, with the token of the agent and with that of the tenant's pod. */
async function answers(): Promise<[Awaited<ReturnType<typeof post>>, Awaited<ReturnType<typeof post>>]> {
  const own = await tokenOf(scene.connected, 'same', AUDIENCE);
  const foreign = await tokenOf(scene.connected, 'same', AUDIENCE, TENANT);
  const report = (token: string) => postInTime(server, 'same', { token, node: 'n1' });
  return [await report(own), await report(foreign)];
}

describe('a pod of another namespace with the label of an agent', () => {
  it('cannot report, and is not expected to, if its ServiceAccount is not listed', async () => {
    await start(['-agent-service-account=default/netchecker-agent']);
    expect((await server.ask(CHECK)).json()).toMatchObject({ Absent: ['same'] });
    const [own, foreign] = await answers();
    expect(own.status).toBe(200);
    expect(foreign).toMatchObject({
      status: 403,
      text: 'the ServiceAccount is tenant/netchecker-agent: must be one of default/netchecker-agent\n',
    });
    expect((await server.ask(CHECK)).json()).toMatchObject({ Message: expect.stringMatching(/^All 1 pods/) as string });
  });

  it('cannot report as an agent whose name it has, without a list', async () => {
    await start();
    const refusal = {
      status: 403,
      text: 'podname is same: must be the name of one agent, and there is one in default and in tenant\n',
    };
    expect(await answers()).toMatchObject([refusal, refusal]);
  });
});

it('the check fails with the reason while the watch of the pods is refused, and metrics have no 0', async () => {
  await start();
  const { client } = scene.connected;
  await client.delete(BINDINGS, { name: USER });
  await scene.plane.stopApiServer();
  await scene.plane.startApiServer();
  await vi.waitFor(async () => {
    const { status, text } = await server.ask(CHECK);
    expect([status, text]).toEqual([500, expect.stringContaining('is forbidden') as string]);
  }, WAIT);
  // An evaluation is kept for up to 5 s.
  await vi.waitFor(async () =>
    expect((await server.ask('/metrics')).text).not.toMatch(/^traffic_operator_connectivity_/m),
  );
});
