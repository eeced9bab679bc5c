import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/schema.ts';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import type { Evaluations } from '../../../src/connectivity/protocol/evaluation.ts';
import type { Assignment } from '../../../src/connectivity/protocol/measurement.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createReadyNode, installChecks, ipOf, podOf, post, resultOf } from './checkWorld.ts';
import { createAgentPod, startServer, type ConnectivityServer } from './world.ts';

/** Agents whose measurements are made up measure what a real server assigns to them. */
const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const INTERVAL_MS = 5_000;
/** Of different distances in the ring of nodes: with one peer each, the rotation has one of these links at most. */
const CUT = [
  ['n1', 'n4'],
  ['n2', 'n3'],
];
const FOUND = ['Link n1 <-> n4', 'Link n2 <-> n3'];
const peersOf = new Map<string, readonly string[]>();
let server: ConnectivityServer;

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  await installChecks(client);
  const spec = { planes: ['Pod' as const], interval: `${INTERVAL_MS / 1_000}s`, peers: NAMES.length - 1 };
  await client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'all' }, spec });
  for (const name of NAMES) await createReadyNode(client, name);
  for (const node of NAMES) await createAgentPod(client, podOf(node), { node, ip: ipOf(node) });
});

beforeAll(async () => {
  server = await startServer(scene.plane.kubeconfig, ['-allow-anonymous']);
});
afterAll(() => server.kill());

/** After an interval, all agents report what they were assigned before. */
async function round(cut: readonly (readonly string[])[] = []): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  for (const node of NAMES) {
    const works = (peer: string): boolean => !cut.some((ends) => ends.includes(node) && ends.includes(peer));
    const peers = (peersOf.get(node) ?? []).map((peer) => resultOf(peer, works(peer)));
    const { text } = await post(server, node, peers);
    const assigned = text === '' ? undefined : (JSON.parse(text) as Assignment);
    if (assigned !== undefined)
      peersOf.set(
        node,
        assigned.peers.map((peer) => peer.node),
      );
  }
}

async function found(): Promise<string[] | undefined> {
  const { all } = (await server.ask('/api/v1/evaluations')).json() as Evaluations;
  if (all === undefined || all.counts.excludedNodes > 0) return undefined;
  return all.findings.map(({ class: one, subjects }) => `${one} ${subjects.join()}`).sort();
}

async function until(wanted: readonly string[], cut: readonly (readonly string[])[]): Promise<void> {
  const attempt = async (): Promise<void> => {
    await round(cut);
    expect(await found()).toEqual(wanted);
  };
  await vi.waitFor(attempt, { interval: 1 });
}

it('links that do not work are found, and probed, until they work, although the rotation goes on', async () => {
  await until([], []);
  await until(FOUND, CUT);
  const { client } = scene.connected;
  await client.mergePatch(CONNECTIVITY_CHECKS, { name: 'all' }, { spec: { peers: 1 } }, { fieldManager: 'test' });
  await vi.waitFor(
    async () => {
      await round(CUT);
      expect(['n5', 'n6'].map((node) => peersOf.get(node)?.length)).toEqual([1, 1]);
    },
    { interval: 1 },
  );
  for (let n = 0; n < 4; n += 1) {
    // Not at once: a finding waits until the measurements that it rests on are of the same time.
    await until(FOUND, CUT);
    for (const [one, other] of CUT) {
      expect(peersOf.get(one!)).toContain(other);
      expect(peersOf.get(other!)).toContain(one);
    }
  }
  await until([], []);
  await vi.waitFor(
    async () => {
      await round();
      expect(NAMES.map((node) => peersOf.get(node)?.length)).toEqual(NAMES.map(() => 1));
    },
    { interval: 1 },
  );
}, 900_000);
