import { agentOf, crash, dnsPod, hangKubelet, serverPod } from './connectivity.ts';
import { kubectl } from './kubectl.ts';
import {
  addFault,
  betweenGroups,
  dnsQuestions,
  hostTraffic,
  LARGE,
  oneWay,
  podTraffic,
  removeFaults,
  setMtu,
  THIRTY_PERCENT,
  toApiServer,
  type Addresses,
} from './networkFaults.ts';

/** The label of a node with its zone. */
export const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Names of nodes, and the addresses of all of them by name. */
export interface Scene {
  /** Has operator, server and DNS. */
  readonly central: string;
  readonly node: string;
  readonly other: string;
  /** A fourth one, which leaves in the end. */
  readonly added: string;
  readonly addresses: Readonly<Record<string, Addresses>>;
}

/** A fault of what the connectivity check measures. */
export interface ConnectivityFault {
  readonly what: string;
  /** The finding, as `Class subject`. */
  readonly wanted: (scene: Scene) => string | Promise<string>;
  /** Makes it. Returns what ends it. */
  readonly make: (scene: Scene) => Promise<() => Promise<void>>;
}

async function rules(node: string, ...given: Parameters<typeof addFault>[1][]): Promise<() => Promise<void>> {
  await addFault(node, Object.assign({}, ...given) as (typeof given)[number]);
  return () => removeFaults(node);
}

const allBut = (node: string, addresses: Scene['addresses']): Addresses[] =>
  Object.entries(addresses).flatMap(([name, each]) => (name === node ? [] : [each]));

export const DNS: ConnectivityFault = {
  what: 'the DNS is silent',
  wanted: () => 'DNS cluster',
  make: async () => {
    const { spec, status } = await dnsPod();
    return rules(spec!.nodeName!, dnsQuestions(status!.podIP!));
  },
};
export const LINK: ConnectivityFault = {
  what: 'one direction of one link is cut',
  wanted: ({ other, added }) => `Link ${other} -> ${added}`,
  make: ({ other, added, addresses }) => rules(other, oneWay(addresses[other]!, addresses[added]!)),
};
export const POD_NETWORK: ConnectivityFault = {
  what: 'the pod network of a node is cut',
  wanted: ({ node }) => `PodNetwork ${node}`,
  make: ({ node, addresses }) => rules(node, podTraffic(addresses[node]!)),
};
export const HOST_NETWORK: ConnectivityFault = {
  what: 'the host network of a node is cut',
  wanted: ({ other }) => `HostNetwork ${other}`,
  make: ({ other, addresses }) => rules(other, hostTraffic(allBut(other, addresses))),
};
export const BOTH_NETWORKS: ConnectivityFault = {
  what: 'both networks of a node are cut',
  wanted: ({ node }) => `Node ${node}`,
  make: ({ node, addresses }) => rules(node, podTraffic(addresses[node]!), hostTraffic(allBut(node, addresses))),
};
export const MTU: ConnectivityFault = {
  what: 'packets above 1,400 bytes are dropped',
  wanted: ({ node }) => `MTU ${node}`,
  make: ({ node, addresses }) => rules(node, podTraffic(addresses[node]!, LARGE)),
};
export const INTERFACE_MTU: ConnectivityFault = {
  what: 'the interface of a node has another MTU',
  wanted: ({ node }) => `MTU ${node}`,
  make: async ({ node }) => {
    await setMtu(node, 1_400);
    return () => setMtu(node, 1_500);
  },
};
export const LOSS: ConnectivityFault = {
  what: '30 % of the packets are lost',
  wanted: ({ other }) => `PodNetwork ${other}`,
  make: ({ other, addresses }) => rules(other, podTraffic(addresses[other]!, THIRTY_PERCENT)),
};
export const API_SERVER: ConnectivityFault = {
  what: 'the API server does not answer the pods of a node',
  wanted: ({ node }) => `APIServer ${node}`,
  make: ({ node, addresses }) => rules(node, toApiServer(addresses[node]!)),
};
export const AGENT: ConnectivityFault = {
  what: 'an agent is killed',
  wanted: async ({ other }) => `Agent ${(await agentOf(other)).metadata!.name!}`,
  make: async ({ other }) => crash(await agentOf(other), 'connectivity-agent'),
};
export const SERVER: ConnectivityFault = {
  what: 'the server is killed',
  wanted: () => 'Server server',
  make: async () => crash(await serverPod(), 'connectivity-server'),
};
export const ZONES: ConnectivityFault = {
  what: 'two zones are cut off from each other',
  wanted: () => 'Zone zone-a <-> zone-b',
  make: async ({ central, node, other, added, addresses }) => {
    const [a, b] = [
      [central, node],
      [other, added],
    ] as const;
    await kubectl('label', 'node', ...a, `${ZONE_LABEL}=zone-a`);
    await kubectl('label', 'node', ...b, `${ZONE_LABEL}=zone-b`);
    const [ours, theirs] = [a, b].map((zone) => zone.map((name) => addresses[name]!));
    await Promise.all(a.map((name) => addFault(name, betweenGroups(ours!, theirs!))));
    return async () => {
      await Promise.all(a.map(removeFaults));
    };
  },
};
export const KUBELET: ConnectivityFault = {
  what: 'a kubelet does not answer',
  wanted: ({ node }) => `Node ${node}`,
  make: ({ node }) => hangKubelet(node),
};
