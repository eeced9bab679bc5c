import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AGENTS } from '../../../src/api/agent/report.ts';
import { CONNECTIVITY_CHECKS } from '../../../src/api/connectivitycheck/connectivityCheck.ts';
import type { Evaluations } from '../../../src/connectivity/protocol/evaluation.ts';
import type { Assignment } from '../../../src/connectivity/protocol/measurement.ts';
import { NODES } from '../../../src/runtime/client/resources.ts';
import { agentCrd, installCrd } from '../../harness/customResource.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { createReadyNode, installChecks, ipOf, podOf, post as postPeers, resultOf } from './checkWorld.ts';
import { createAgentPod, startServer, type Answer, type ConnectivityServer } from './world.ts';

/** Agents whose measurements are made up report to a real server by HTTP. */
const NAMES = ['n1', 'n2', 'n3', 'n4'];
/** Two minutes ahead: the nodes, which the API server has just created, no longer join. */
const LATER = new URL('../../harness/shiftClock.ts?seconds=120', import.meta.url).href;
let server: ConnectivityServer;

const scene = useConnectedPlane(async ({ client }) => {
  await installCrd(client, agentCrd(), AGENTS);
  for (const name of NAMES) await createReadyNode(client, name);
  for (const node of NAMES) await createAgentPod(client, podOf(node), { node, ip: ipOf(node) });
});

beforeAll(async () => {
  server = await withNodeOptions(`--import=${LATER}`, () => startServer(scene.plane.kubeconfig, ['-allow-anonymous']));
});
afterAll(() => server.kill());

/**
 * Reports.
 *
 * @param cut node that no other reaches, and that reaches no other
 */
function post(node: string, cut?: string, change: object = {}): Promise<Answer> {
  const others = NAMES.filter((other) => other !== node);
  const peers = others.map((other) => resultOf(other, cut !== node && cut !== other));
  return postPeers(server, node, peers, change);
}

const evaluations = async (): Promise<Evaluations> => (await server.ask('/api/v1/evaluations')).json() as Evaluations;

describe('a server without the CRD of the checks', () => {
  it('assigns nothing, so that agents keep what they had, and evaluates nothing', async () => {
    const answer = await post('n1');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(await evaluations()).toEqual({});
  });
});

describe('a server with a check', () => {
  beforeAll(async () => {
    await installChecks(scene.connected.client);
    const spec = { planes: ['Pod' as const], interval: '5s' };
    await scene.connected.client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'all' }, spec });
  });

  it('assigns all others as peers', async () => {
    await vi.waitFor(
      async () => {
        const { peers, intervalSeconds } = (await post('n1')).json() as Assignment;
        expect(intervalSeconds).toBe(5);
        expect(peers).toEqual(['n2', 'n3', 'n4'].map((node) => ({ node, addresses: [ipOf(node)], port: 8082 })));
      },
      { timeout: 60_000, interval: 1_000 },
    );
  });

  it('refuses what no agent measures, and keeps nothing of it in the API of the original', async () => {
    const bad = await post('n1', undefined, { port: 0 });
    expect([bad.status, bad.text]).toEqual([
      400,
      'invalid report: connectivity.port is 0: must be a whole number from 1 to 65535\n',
    ]);
    expect((await post('n1', undefined, { padding: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await server.ask('/api/v1/agents/')).text).not.toContain('connectivity');
  });

  it('finds the node whose pod network is cut', async () => {
    for (const node of NAMES) await post(node, 'n2');
    await vi.waitFor(async () => {
      const { findings, counts } = (await evaluations()).all!;
      expect(counts).toMatchObject({ nodes: 4, excludedNodes: 0, reportingAgents: 4, anonymousAgents: 4 });
      expect(findings.map((each) => [each.class, each.subjects])).toContainEqual(['PodNetwork', ['n2']]);
    });
  });

  it('is healthy once the pairs work again', async () => {
    for (const node of NAMES) await post(node);
    await vi.waitFor(async () => {
      const { findings, counts } = (await evaluations()).all!;
      expect([findings, counts.observedPairs, counts.affectedPairs]).toEqual([[], 12, 0]);
    });
  });

  it('finds nothing of a cordoned node', async () => {
    const { client } = scene.connected;
    await client.mergePatch(NODES, { name: 'n2' }, { spec: { unschedulable: true } }, { fieldManager: 'test' });
    const excluded = [{ node: 'n2', reason: 'Cordoned' }];
    await vi.waitFor(async () => expect((await evaluations()).all!.excluded).toEqual(excluded));
    for (const node of NAMES) await post(node, 'n2');
    await vi.waitFor(async () => {
      const { findings, counts, lasting } = (await evaluations()).all!;
      expect([findings, counts.observedPairs, lasting]).toEqual([[], 6, undefined]);
    });
  });

  it('evaluates a node that is left out once the status has a finding that may last', async () => {
    const { client } = scene.connected;
    const status = { summary: 'PodNetwork n2' };
    await client.mergePatch(
      CONNECTIVITY_CHECKS,
      { name: 'all' },
      { status },
      { fieldManager: 'test', subresource: 'status' },
    );
    await vi.waitFor(async () => {
      for (const node of NAMES) await post(node, 'n2');
      const { lasting = [] } = (await evaluations()).all!;
      expect(lasting.map(({ class: one, subjects }) => [one, subjects])).toEqual([['PodNetwork', ['n2']]]);
    }, 30_000);
  });
});
