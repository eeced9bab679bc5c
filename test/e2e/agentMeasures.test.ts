import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Assignment, Measurement, PeerResult } from '../../src/connectivity/protocol/measurement.ts';
import { AgentNetwork, PEER_PORT, type Machine } from '../scenario/agentNetwork.ts';
import { AgentServer } from '../scenario/agentServer.ts';

/**
 * Real agents in network namespaces measure each other, while nftables drops packets: one measures all others, each of which has another fault
 * at the same time, and each of them measures the one. A small server assigns them, and keeps the reports. It needs no lab, but would disturb
 * a lab that starts or ends at the same time: the machine has its devices and addresses meanwhile.
 */
const OTHERS = ['cut', 'large', 'lossy', 'tcpOnly', 'closed'] as const;
type Other = (typeof OTHERS)[number];
const network = new AgentNetwork(1 + OTHERS.length);
const [one, ...others] = network.machines as [Machine, ...Machine[]];
const machineOf = (other: Other): Machine => others[OTHERS.indexOf(other)]!;
/** The packets that each of the others drops, as rules of nft(8). */
const FAULTS: Record<Other, string> = {
  cut: `ip saddr ${one.address} drop`,
  large: `ip saddr ${one.address} meta length > 1400 drop`,
  lossy: `ip saddr ${one.address} udp dport ${PEER_PORT} numgen random mod 10 < 3 drop`,
  tcpOnly: `udp dport ${PEER_PORT} drop`,
  closed: `tcp dport ${PEER_PORT} reject with tcp reset`,
};
const WORKS = { tcp: { ok: true }, udp: { sent: 20, received: 20 }, mtu: { interface: 1_500, largest: 1_500 } };
const WAIT = { timeout: 120_000 };
const reports = new Map<string, Measurement[]>();
const server = new AgentServer({ assignmentOf, onReport: (node, measurement) => reportsOf(node).push(measurement) });

beforeAll(async () => {
  network.create();
  const port = await server.listen();
  await Promise.all(network.machines.map((machine) => network.startAgent(machine, port)));
});
afterAll(async () => {
  await network.remove();
  server.close();
});

function reportsOf(node: string): Measurement[] {
  if (!reports.has(node)) reports.set(node, []);
  return reports.get(node)!;
}

function assignmentOf(node: string | undefined): Assignment {
  const peers = node === one.node ? others : [one];
  return {
    intervalSeconds: 2,
    peers: peers.map((peer) => ({ node: peer.node, addresses: [peer.address], port: PEER_PORT })),
    probes: { dns: false, apiServer: false, mtu: true },
    urls: [],
  };
}

const resultFor = ({ peers }: Measurement, { node }: Machine): PeerResult | undefined =>
  peers.find((peer) => peer.node === node);

it('agents find nothing where the network works, and hear each other', async () => {
  // Until all listen, they rightly report that others do not answer.
  await vi.waitFor(() => {
    for (const other of others) {
      expect(resultFor(reportsOf(one.node).at(-1)!, other)).toMatchObject({ address: other.address, ...WORKS });
      expect(resultFor(reportsOf(other.node).at(-1)!, one)).toMatchObject({ address: one.address, ...WORKS });
      expect(reportsOf(one.node).at(-1)!.heard[other.node]).toBeGreaterThanOrEqual(20);
      expect(reportsOf(other.node).at(-1)!.heard[one.node]).toBeGreaterThanOrEqual(20);
    }
  }, WAIT);
});

describe('agents whose packets are dropped', () => {
  /** How many reports each machine had sent before. */
  let before: ReadonlyMap<Machine, number>;

  beforeAll(() => {
    for (const other of OTHERS) network.drop(machineOf(other), FAULTS[other]);
    before = new Map(network.machines.map((machine) => [machine, reportsOf(machine.node).length]));
  });

  /** The newest report that a machine measured with the faults: the first one since may have been under way. */
  function newest(machine: Machine): Measurement {
    const report = reportsOf(machine.node)
      .slice(before.get(machine)! + 1)
      .at(-1);
    if (report === undefined) throw new Error(`no report of ${machine.node} yet`);
    return report;
  }

  /** The newest result of the one agent for another agent. */
  const found = (other: Other): PeerResult => resultFor(newest(one), machineOf(other))!;

  /** In a report of an agent that had to wait for a processor, packets are missing: another report follows. */
  const becomes = (check: () => void): Promise<void> => vi.waitFor(check, WAIT);

  it('show the direction that is cut: the one that hears nothing', async () => {
    const cut = machineOf('cut');
    await becomes(() => {
      for (const peer of [found('cut'), resultFor(newest(cut), one)!]) {
        expect(peer).toMatchObject({
          tcp: { ok: false, error: 'Timeout' },
          udp: { sent: 20, received: 0, error: 'Timeout' },
        });
        expect(peer.mtu).toBeUndefined();
      }
      expect(newest(cut).heard[one.node]).toBeUndefined();
      expect(newest(one).heard[cut.node]).toBeGreaterThanOrEqual(20);
    });
  });

  it('find the largest packet where larger ones vanish', async () => {
    await becomes(() =>
      expect(found('large')).toMatchObject({
        ...{ tcp: { ok: true }, udp: { received: 20 }, mtu: { interface: 1_500, largest: 1_400 } },
      }),
    );
  });

  it('count what is lost, and do not take loss for a smaller MTU', async () => {
    await becomes(() => {
      const { udp, tcp, mtu } = found('lossy');
      // 14 of 20 on average.
      expect(udp.received).toBeGreaterThanOrEqual(6);
      expect(udp.received).toBeLessThan(20);
      expect(tcp.ok).toBe(true);
      if (mtu !== undefined) expect(mtu).toEqual({ interface: 1_500, largest: 1_500 });
    });
  });

  it('tell UDP from TCP', async () => {
    await becomes(() =>
      expect(found('tcpOnly')).toMatchObject({ tcp: { ok: true }, udp: { received: 0, error: 'Timeout' } }),
    );
  });

  it('distinguish a port on which nothing listens from a network that is silent', async () => {
    await becomes(() =>
      expect(found('closed')).toMatchObject({ tcp: { ok: false, error: 'Refused' }, udp: { received: 20 } }),
    );
  });
});
