import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { NAMESPACES, SERVICES } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { follow } from '../../harness/follow.ts';
import { Installation } from './installation.ts';
import { setAddress } from './kubelet.ts';
import { component, WAIT, type StackScene } from './scene.ts';
import { resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/** A Prometheus, and a port of a node, that take connections and never answer. */
const USER = 'stack-hanging-servers';
const IP = '127.0.0.78';
let i: Installation;
let s: StackScene;
const servers: Server[] = [];
const sockets = new Set<Socket>();
/** By name, each stack as it was when it had its first status. */
const firsts = new Map<string | undefined, TrafficStack>();
let stopFollowing: () => Promise<void>;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await setAddress(s.f.client, IP);
  await s.f.client.create(NAMESPACES, { metadata: { name: THEIR_PROMETHEUS.namespace } });
  stopFollowing = await follow(s.f.controlPlane, TRAFFIC_STACKS, ({ object }) => {
    const name = object.metadata?.name;
    if (object.status?.components !== undefined && !firsts.has(name)) firsts.set(name, object);
  });
  await resolvingServices(() => i.startOperator());
});
afterAll(async () => {
  await stopFollowing();
  await i.stop();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/** Takes connections, and never answers. @returns its port, and when the first connection is made: ms since 1970 */
async function hang(host: string, port = 0): Promise<{ port: number; askedAt: Promise<number> }> {
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  servers.push(server);
  const askedAt = new Promise<number>((resolve) => {
    server.once('connection', () => resolve(Date.now()));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return { port: (server.address() as AddressInfo).port, askedAt };
}

/** The stack with its first status, which was written before the server was asked. */
async function firstBefore(askedAt: number, name: string): Promise<TrafficStack> {
  await vi.waitFor(() => expect(firsts.has(name)).toBe(true), WAIT);
  const [write] = writesOf(s.f.controlPlane, USER).filter(
    (each) => each.resource === 'trafficstacks/status' && each.name === name,
  );
  expect(write?.answeredAt).toBeLessThanOrEqual(askedAt);
  return firsts.get(name)!;
}

const states = ({ status }: TrafficStack) => status?.components?.map((each) => `${each.name} ${each.state}`).sort();

it('the status is there before a Prometheus is asked that never answers', async () => {
  const { port, askedAt } = await hang('127.0.0.1');
  await s.f.client.create(SERVICES, {
    metadata: { ...THEIR_PROMETHEUS, labels: { 'operated-prometheus': 'true' } },
    spec: { clusterIP: 'None', selector: { app: 'prometheus' }, ports: [{ name: 'web', port }] },
  });
  await s.create('prometheus', [
    { name: 'metrics', type: 'Prometheus', mode: 'External' },
    component('beside'),
    component('behind', { dependsOn: ['metrics'] }),
  ]);
  const first = await firstBefore(await askedAt, 'prometheus');
  expect(states(first)).toEqual(['behind Unknown', 'beside Unknown', 'metrics Unknown']);
  expect(first.status).toMatchObject({ observedGeneration: first.metadata?.generation, summary: '0/3' });
  expect(first.status?.components?.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
    Array(3).fill('NotDecided: not looked at yet'),
  );
  await s.becomes('beside', { state: 'Ready' }, 'prometheus');
  await s.becomes('metrics', { state: 'Progressing', reason: 'ExternalUnusable' }, 'prometheus');
  await s.becomes('behind', { state: 'Waiting', blockedBy: ['metrics'] }, 'prometheus');
});

it('the status is there before a port of a node is asked that never answers', async () => {
  const { askedAt } = await hang(IP, 9100);
  await s.create('exporter', [{ name: 'exporter', type: 'NodeExporter', mode: 'External' }, component('free')]);
  expect(states(await firstBefore(await askedAt, 'exporter'))).toEqual(['exporter Unknown', 'free Unknown']);
  await s.becomes('free', { state: 'Ready' }, 'exporter');
  await s.becomes('exporter', { state: 'Progressing', reason: 'ExternalMissing' }, 'exporter');
});
