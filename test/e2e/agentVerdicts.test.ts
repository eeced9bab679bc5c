import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { localise } from '../../src/connectivity/localise/localise.ts';
import type { AgentView, ClusterView } from '../../src/connectivity/localise/view.ts';
import type { Assignment } from '../../src/connectivity/protocol/measurement.ts';
import { Measurements } from '../../src/connectivity/server/reports/measurements.ts';
import { systemClock } from '../../src/runtime/process/clock.ts';
import { AgentNetwork, PEER_PORT, type LinkFaults, type Machine } from '../scenario/agentNetwork.ts';
import { AgentServer } from '../scenario/agentServer.ts';

/**
 * Faults that tc(8), ip(8) and nft(8) make in one of several network namespaces, and what is found in the reports of the real agents in them.
 * The simulations have other faults. Here: queues, rejections, another MTU, a firewall that lets only known connections pass, a full table of
 * connections, and a link that delays, loses, damages, repeats and reorders packets. Needs no lab, but would disturb a lab that starts or ends at the same time.
 */
const INTERVAL_SECONDS = 5;
const network = new AgentNetwork(6);
const [, limited, rejecting, small, full, distant] = network.machines as [
  ...[Machine, Machine, Machine],
  ...[Machine, Machine, Machine],
];
const measurements = new Measurements(systemClock);
const server = new AgentServer({
  assignmentOf,
  onReport: (nodename, measurement) =>
    measurements.accept({ podname: nodename, nodename, report_interval: INTERVAL_SECONDS }, measurement),
});

/** Each agent probes all others. */
function assignmentOf(node: string | undefined): Assignment {
  const peers = network.machines.filter((machine) => machine.node !== node);
  return {
    intervalSeconds: INTERVAL_SECONDS,
    peers: peers.map((peer) => ({ node: peer.node, addresses: [peer.address], port: PEER_PORT })),
    probes: { dns: false, apiServer: false, mtu: true },
    urls: [],
  };
}

function agentView({ node }: Machine): AgentView {
  const agent = { node, plane: 'Pod', pod: node, targets: [] } as const;
  const kept = measurements.get(node);
  const silentMs = kept === undefined ? Infinity : systemClock.monotonic() - kept.times.reportedAt;
  if (kept === undefined || silentMs > 2_000 * INTERVAL_SECONDS) {
    return { ...agent, state: 'Silent', peers: [], heard: [] };
  }
  const { peers, heard } = kept.measurement;
  return { ...agent, state: 'Reporting', peers, heard, times: kept.times };
}

/** The findings as class, subject and severity. */
function found(): string[] {
  const nodes = network.machines.map(({ node }) => ({ name: node }));
  const view: ClusterView = { nodes, agents: network.machines.map(agentView), thresholds: { lossPercent: 10 } };
  return localise(view).findings.map(({ class: one, subjects, severity }) => `${one} ${subjects.join()} ${severity}`);
}

/** Evaluations in 5 s, and in four reports of each agent. */
const [SOME, MANY] = [10, 40];

/** Waits until something is found in some evaluations in a row: while a fault begins or ends, it may look smaller. */
async function becomes(wanted: readonly string[], least = SOME): Promise<void> {
  let times = 0;
  await vi.waitFor(
    () => {
      const now = found();
      times = now.join() === wanted.join() ? times + 1 : 0;
      expect([times >= least, now]).toEqual([true, wanted]);
    },
    { timeout: 120_000, interval: 500 },
  );
}

beforeAll(async () => {
  network.create();
  const port = await server.listen();
  await Promise.all(network.machines.map((machine) => network.startAgent(machine, port)));
  await becomes([]);
}, 180_000);
afterAll(async () => {
  await network.remove();
  server.close();
});

const TBF = ['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', 'rate', '256kbit', 'burst', '2kb', 'latency', '400ms'];
const OF_PEERS = `meta l4proto { tcp, udp } th dport ${PEER_PORT}`;

/** Makes a fault at a machine, or ends it. */
type Change = (machine: Machine) => void | Promise<void>;
const by =
  (...command: string[]): Change =>
  (machine) =>
    network.run(machine, command);
const rule =
  (text: string): Change =>
  (machine) =>
    network.drop(machine, text);
const link =
  (faults: LinkFaults): Change =>
  (machine) =>
    network.addBadLink(machine, faults);
const NO_LINK: Change = (machine) => network.removeBadLink(machine);

/** Fills the table of connections, once it has only connections that last, such as the one to the server. */
const fillTable: Change = async (machine) => {
  const brief = ['tcp_timeout_time_wait', 'tcp_timeout_close', 'udp_timeout', 'udp_timeout_stream'];
  const files = brief.map((name) => `/proc/sys/net/netfilter/nf_conntrack_${name}`);
  network.run(machine, ['sh', '-c', `for file in ${files.join(' ')}; do echo 1 >$file; done`]);
  // The kernel has a table for a namespace that has such a rule.
  network.drop(machine, 'ct state invalid counter');
  await new Promise((resolve) => setTimeout(resolve, 3_000 * INTERVAL_SECONDS));
  await network.fillConnections(machine);
};
const emptyTable: Change = async (machine) => {
  await network.stopFilling();
  network.removeDrops(machine);
};

const NO_RULES: Change = (machine) => network.removeDrops(machine);

it.each<{ what: string; at: Machine; begin: Change; end: Change; wanted: string | undefined }>([
  {
    what: 'a rate limit of 256 kbit/s, which drops what waits for more than 400 ms',
    at: limited,
    begin: by(...TBF),
    end: by('tc', 'qdisc', 'del', 'dev', 'eth0', 'root'),
    wanted: `PodNetwork ${limited.node} Degraded`,
  },
  {
    what: 'a firewall that rejects with port-unreachable',
    at: rejecting,
    begin: rule(`${OF_PEERS} reject with icmpx type port-unreachable`),
    end: NO_RULES,
    wanted: `PodNetwork ${rejecting.node} Failed`,
  },
  {
    what: 'an interface with a smaller MTU',
    at: small,
    begin: by('ip', 'link', 'set', 'eth0', 'mtu', '1400'),
    end: by('ip', 'link', 'set', 'eth0', 'mtu', '1500'),
    wanted: `MTU ${small.node} Degraded`,
  },
  {
    what: 'a firewall that lets only known connections pass',
    at: full,
    begin: rule(`ct state new ${OF_PEERS} drop`),
    end: NO_RULES,
    wanted: `PodNetwork ${full.node} Failed`,
  },
  {
    what: 'a full table of connections, so that the kernel drops new ones in both directions',
    at: full,
    begin: fillTable,
    end: emptyTable,
    wanted: `PodNetwork ${full.node} Failed`,
  },
  {
    what: 'a link that delays packets by 200 ms in each direction',
    at: distant,
    begin: link({ delayMs: 200 }),
    end: NO_LINK,
    wanted: `Latency ${distant.node} Degraded`,
  },
  {
    what: 'a link that loses 20 % of the packets of each direction',
    at: distant,
    begin: link({ loss: 20 }),
    end: NO_LINK,
    wanted: `PodNetwork ${distant.node} Degraded`,
  },
  {
    what: 'a link that damages 20 % of the packets of each direction, which the receiver drops',
    at: distant,
    begin: link({ corrupt: 20 }),
    end: NO_LINK,
    wanted: `PodNetwork ${distant.node} Degraded`,
  },
  {
    what: 'a link that reorders and repeats a quarter of the packets works: nothing',
    at: distant,
    begin: link({ delayMs: 20, reorder: 25, duplicate: 25 }),
    end: NO_LINK,
    wanted: undefined,
  },
])('$what is found at its node, and nothing else is', { timeout: 300_000 }, async ({ at, begin, end, wanted }) => {
  await begin(at);
  await (wanted === undefined ? becomes([], MANY) : becomes([wanted]));
  await end(at);
  await becomes([]);
});
