import type { Assignment, Measurement } from '../../../src/connectivity/protocol/measurement.ts';

/** An agent that the benchmark plays. */
export interface SimulatedAgent {
  readonly pod: string;
  readonly node: string;
  readonly plane: 'Pod' | 'Host';
  readonly address: string;
}

/** The default of -zeroextenderlength. */
const ZEROS = new Array<number>(1_500).fill(0);
const ROUND_TRIP_MS = 0.4;
const MTU = 1_500;

/** The body of a report as an agent sends it in a cluster without faults: every peer of `assignment` answered. */
export function reportBody(
  agent: SimulatedAgent,
  intervalSeconds: number,
  reports: number,
  assignment?: Assignment,
): string {
  return JSON.stringify({
    report_interval: intervalSeconds,
    nodename: agent.node,
    podname: agent.pod,
    hostdate: new Date().toISOString(),
    uptime: 100_000 + reports * intervalSeconds,
    nslookup: { 'netchecker-service.traffic-operator-system': ['10.0.0.81'] },
    ips: { lo: ['127.0.0.1/8', '::1/128'], eth0: [`${agent.address}/24`] },
    network_probes: [probe(reports)],
    zero_extender: ZEROS,
    connectivity: measurement(agent, assignment),
  });
}

function probe(reports: number) {
  return {
    URL: 'http://netchecker-service.traffic-operator-system:8081/api/v1/ping',
    ConnectionResult: 1,
    HTTPCode: 200,
    // Times that change, as real ones do.
    Total: 2 + (reports % 3),
    ContentTransfer: 0,
    TCPConnection: 0,
    DNSLookup: reports % 2,
    Connect: 1,
    ServerProcessing: 1,
  };
}

function measurement({ plane }: SimulatedAgent, assignment?: Assignment): Measurement {
  const peers = assignment?.peers ?? [];
  return {
    plane,
    port: 8_082,
    peers: peers.flatMap(({ node, addresses }) =>
      addresses.map((address) => ({
        node,
        address,
        tcp: { ok: true, ms: ROUND_TRIP_MS },
        udp: { sent: 20, received: 20, ms: ROUND_TRIP_MS },
        mtu: { interface: MTU, largest: MTU },
      })),
    ),
    targets: [
      { target: 'DNSUDP', address: '10.0.0.10:53', ok: true, ms: ROUND_TRIP_MS },
      { target: 'DNSTCP', address: '10.0.0.10:53', ok: true, ms: ROUND_TRIP_MS },
      { target: 'APIServer', address: '10.0.0.1:443', ok: true, ms: ROUND_TRIP_MS },
    ],
    // As many nodes probe an agent as it probes.
    heard: Object.fromEntries(peers.map(({ node }) => [node, 20])),
  };
}
