import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Assignment, Measurement, PeerResult } from '../../src/connectivity/protocol/measurement.ts';
import { AgentNetwork, BRIDGE_ADDRESS, PEER_PORT } from '../scenario/agentNetwork.ts';

/**
 * Real agents in network namespaces measure each other, while nftables drops packets. A small server assigns everyone to
 * everyone, and keeps the reports. It needs no lab, but would disturb one that starts or ends beside it: the machine has
 * its devices and addresses meanwhile.
 */
const network = new AgentNetwork(2);
const [one, two] = network.machines as [AgentNetwork['machines'][0], AgentNetwork['machines'][0]];
const reports = new Map<string, Measurement[]>();
let server: Server;
const WORKS = { tcp: { ok: true }, udp: { sent: 20, received: 20 }, mtu: { interface: 1_500, largest: 1_500 } };

beforeAll(async () => {
  network.create();
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (data: Buffer) => (text += data.toString()));
    request.on('end', () => {
      const { nodename, connectivity } = JSON.parse(text || '{}') as { nodename?: string; connectivity?: Measurement };
      if (nodename !== undefined && connectivity !== undefined) reportsOf(nodename).push(connectivity);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(assignmentOf(nodename)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, BRIDGE_ADDRESS, resolve));
  const { port } = server.address() as AddressInfo;
  await Promise.all(network.machines.map((machine) => network.startAgent(machine, port)));
  // Until both listen, they rightly report that the other does not answer.
  await vi.waitFor(
    () => network.machines.forEach(({ node }) => expect(reportsOf(node).at(-1)?.peers[0]).toMatchObject(WORKS)),
    { timeout: 120_000 },
  );
});
afterEach(() => network.machines.forEach((machine) => network.heal(machine)));
afterAll(async () => {
  await network.remove();
  server.close();
  server.closeAllConnections();
});

function reportsOf(node: string): Measurement[] {
  if (!reports.has(node)) reports.set(node, []);
  return reports.get(node)!;
}

function assignmentOf(node: string | undefined): Assignment {
  const others = network.machines.filter((machine) => machine.node !== node);
  return {
    intervalSeconds: 2,
    peers: others.map((other) => ({ node: other.node, addresses: [other.address], port: PEER_PORT })),
    probes: { dns: false, apiServer: false, mtu: true },
    urls: [],
  };
}

/** Waits for a report of each machine that was measured from now on: not the next one, which may be under way. */
async function measured(): Promise<Record<'one' | 'two', { peer: PeerResult; heard: Measurement['heard'] }>> {
  const before = [one, two].map(({ node }) => reportsOf(node).length);
  const seen = await vi.waitFor(
    () =>
      [one, two].map(({ node }, n) => {
        const { peers, heard } = reportsOf(node)[before[n]! + 1] ?? {};
        if (peers?.[0] === undefined || heard === undefined) throw new Error(`no report of ${node} yet`);
        return { peer: peers[0], heard };
      }),
    { timeout: 120_000 },
  );
  return { one: seen[0]!, two: seen[1]! };
}

describe('agents', () => {
  it('find nothing where the network works, and hear each other', async () => {
    const seen = await measured();
    expect(seen.one.peer).toMatchObject({ node: two.node, address: two.address, ...WORKS });
    expect(seen.two.peer).toMatchObject({ node: one.node, ...WORKS });
    expect(seen.one.heard[two.node]).toBeGreaterThanOrEqual(20);
    expect(seen.two.heard[one.node]).toBeGreaterThanOrEqual(20);
  });

  it('show the direction that is cut: the one that hears nothing', async () => {
    network.drop(two, `ip saddr ${one.address} drop`);
    const seen = await measured();
    for (const { peer } of [seen.one, seen.two]) {
      expect(peer).toMatchObject({
        tcp: { ok: false, error: 'Timeout' },
        udp: { sent: 20, received: 0, error: 'Timeout' },
      });
      expect(peer.mtu).toBeUndefined();
    }
    expect(seen.two.heard[one.node]).toBeUndefined();
    expect(seen.one.heard[two.node]).toBeGreaterThanOrEqual(20);
  });

  it('find the largest packet where larger ones vanish', async () => {
    network.drop(two, `ip saddr ${one.address} meta length > 1400 drop`);
    const { peer } = (await measured()).one;
    expect(peer).toMatchObject({ tcp: { ok: true }, udp: { received: 20 }, mtu: { interface: 1_500, largest: 1_400 } });
  });

  it('count what is lost, and do not take loss for a smaller MTU', async () => {
    network.drop(two, `ip saddr ${one.address} udp dport ${PEER_PORT} numgen random mod 10 < 3 drop`);
    const { peer } = (await measured()).one;
    // 14 of 20 on average; outside of these bounds in fewer than 1 of 10,000 runs.
    expect(peer.udp.received).toBeGreaterThanOrEqual(6);
    expect(peer.udp.received).toBeLessThan(20);
    expect(peer.tcp.ok).toBe(true);
    if (peer.mtu !== undefined) expect(peer.mtu).toEqual({ interface: 1_500, largest: 1_500 });
  });

  it('tell UDP from TCP', async () => {
    network.drop(two, `udp dport ${PEER_PORT} drop`);
    const { peer } = (await measured()).one;
    expect(peer).toMatchObject({ tcp: { ok: true }, udp: { received: 0, error: 'Timeout' } });
  });

  it('tell that nothing listens from a network that is silent', async () => {
    network.drop(two, `tcp dport ${PEER_PORT} reject with tcp reset`);
    const { peer } = (await measured()).one;
    expect(peer).toMatchObject({ tcp: { ok: false, error: 'Refused' }, udp: { received: 20 } });
  });
});
