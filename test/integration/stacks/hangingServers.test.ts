import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { NAMESPACES, SERVICES } from '../../../src/runtime/client/resources.ts';
import { Installation } from './installation.ts';
import { setAddress } from './kubelet.ts';
import { component, type StackScene } from './scene.ts';
import { resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/** A Prometheus, and a port of a node, that take connections and never answer. */
const USER = 'stack-hanging-servers';
const IP = '127.0.0.78';
let i: Installation;
let s: StackScene;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await setAddress(s.f.client, IP);
  await s.f.client.create(NAMESPACES, { metadata: { name: THEIR_PROMETHEUS.namespace } });
  await resolvingServices(() => i.startOperator());
});
afterAll(async () => {
  await i.stop();
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/**
 * Takes connections, and never answers.
 *
 * @param name of the stack of which the operator asks it
 * @returns its port, and the stack as it is when the first connection is made
 */
async function hang(name: string, host: string, port = 0): Promise<{ port: number; atFirst: Promise<TrafficStack> }> {
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  servers.push(server);
  const atFirst = new Promise<TrafficStack>((resolve, reject) => {
    server.once('connection', () => void s.stack(name).then(resolve, reject));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return { port: (server.address() as AddressInfo).port, atFirst };
}

const states = ({ status }: TrafficStack) => status?.components?.map((each) => `${each.name} ${each.state}`).sort();

it('the status is there before a Prometheus is asked that never answers', async () => {
  const { port, atFirst } = await hang('prometheus', '127.0.0.1');
  await s.f.client.create(SERVICES, {
    metadata: { ...THEIR_PROMETHEUS, labels: { 'operated-prometheus': 'true' } },
    spec: { clusterIP: 'None', selector: { app: 'prometheus' }, ports: [{ name: 'web', port }] },
  });
  await s.create('prometheus', [
    { name: 'metrics', type: 'Prometheus', mode: 'External' },
    component('beside'),
    component('behind', { dependsOn: ['metrics'] }),
  ]);
  const first = await atFirst;
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
  const { atFirst } = await hang('exporter', IP, 9100);
  await s.create('exporter', [{ name: 'exporter', type: 'NodeExporter', mode: 'External' }, component('free')]);
  expect(states(await atFirst)).toEqual(['exporter Unknown', 'free Unknown']);
  await s.becomes('free', { state: 'Ready' }, 'exporter');
  await s.becomes('exporter', { state: 'Progressing', reason: 'ExternalMissing' }, 'exporter');
});
