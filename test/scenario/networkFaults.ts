import type { V1Node } from '@kubernetes/client-node';
import { inNode } from '../lab/lab.ts';
import { getObject } from './kubectl.ts';

/**
 * Faults of the network in the namespace of a node of the lab. Packets vanish without an answer, by nftables in a table of
 * their own. Pods have routed links, so what a node forwards is the traffic of its pods, and what comes in is its own.
 */
const TABLE = 'inet faults';
/** The device to the other nodes. */
const DEVICE = 'eth0';

/** Rules by the hook of netfilter in which they are. */
type Rules = Partial<Record<'forward' | 'input' | 'postrouting', readonly string[]>>;

/** Adds rules to a node that has none yet. */
export async function addFault(node: string, rules: Rules): Promise<void> {
  const chains = Object.entries(rules).flatMap(([hook, lines]) => [
    `add chain ${TABLE} ${hook} { type filter hook ${hook} priority filter; }`,
    ...lines.map((line) => `add rule ${TABLE} ${hook} ${line}`),
  ]);
  await inNode(node, ['nft', [`add table ${TABLE}`, ...chains].join('; ')]);
}

/** Removes all faults of a node. Does nothing if there are none. */
export async function removeFaults(node: string): Promise<void> {
  await inNode(node, ['nft', `add table ${TABLE}; delete table ${TABLE}`]);
}

/** Sets the MTU of the device of a node to the other nodes. */
export async function setMtu(node: string, bytes: number): Promise<void> {
  await inNode(node, ['ip', 'link', 'set', DEVICE, 'mtu', String(bytes)]);
}

/** The addresses of a node: its own, and its pods' addresses. */
export interface Addresses {
  readonly own: string;
  readonly pods: string;
}

export async function addressesOf(node: string): Promise<Addresses> {
  const { status } = await getObject<V1Node>('node', node);
  const own = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  if (own === undefined) throw new Error(`${node} has no address`);
  // The lab numbers nodes, and has no allocation of pod CIDRs.
  return { own, pods: `198.19.${node.replace(/\D/g, '')}.0/24` };
}

/** Drops what the pods of a node send to others, and what others send to them. @param what of that, such as a share */
export function podTraffic({ pods }: Addresses, what = ''): Rules {
  return {
    forward: [`oifname ${DEVICE} ip saddr ${pods} ${what} drop`, `iifname ${DEVICE} ip daddr ${pods} ${what} drop`],
  };
}

/** Drops what other nodes send to a node itself. Its pods, and the control plane, are not affected. */
export function hostTraffic(others: readonly Addresses[]): Rules {
  return { input: others.map(({ own }) => `iifname ${DEVICE} ip saddr ${own} drop`) };
}

/** Drops packets from the pods of one node to the pods of another. */
export function oneWay(from: Addresses, to: Addresses): Rules {
  return { forward: [`ip saddr ${from.pods} ip daddr ${to.pods} drop`] };
}

/** Drops, on a node of one group, what crosses to another group: between pods, and between the nodes themselves. */
export function betweenGroups(own: readonly Addresses[], others: readonly Addresses[]): Rules {
  const set = (addresses: readonly string[]): string => `{ ${addresses.join(', ')} }`;
  const [ours, theirs] = [own, others].map((group) => set(group.map(({ pods }) => pods)));
  const nodes = set(others.map((each) => each.own));
  return {
    forward: [`ip saddr ${ours} ip daddr ${theirs} drop`, `ip saddr ${theirs} ip daddr ${ours} drop`],
    input: [`iifname ${DEVICE} ip saddr ${nodes} drop`],
  };
}

/** Drops what the pods of a node send to the API server. */
export function toApiServer({ pods }: Addresses): Rules {
  return { forward: [`oifname ${DEVICE} ip saddr ${pods} tcp dport 6443 drop`] };
}

/** Drops all questions to a name server that runs in a pod of the node. After kube-proxy, and also questions of the node. */
export function dnsQuestions(address: string): Rules {
  return { postrouting: [`ip daddr ${address} meta l4proto { tcp, udp } th dport 53 drop`] };
}

/** Packets larger than 1,400 bytes: for `podTraffic`. */
export const LARGE = 'meta length > 1400';
/** 30 % of the packets, by chance: for `podTraffic`. */
export const THIRTY_PERCENT = 'numgen random mod 10 < 3';
