import { isIP, isIPv6, BlockList } from 'node:net';
import type { StatedCapacity } from './statedCapacity.ts';

/** The properties of a node that do not come from series. */
export interface KnownNode {
  /** The capacity of its network that the Node states. It replaces the speeds of the devices. */
  capacity?: StatedCapacity;
  /** The hostname and the addresses that series may use for the node. */
  addresses?: readonly string[];
  /** The ranges of addresses that Kubernetes gives to pods of the node. */
  podCIDRs?: readonly string[];
}

/** The result if several nodes have the address. */
export const AMBIGUOUS = Symbol('ambiguous');
export type Resolution = string | typeof AMBIGUOUS | undefined;

/** Resolves series to nodes. */
export interface NodeResolver {
  /**
   * @param node label `node` of a series
   * @param instance label `instance` of a series
   * @returns the node's name, AMBIGUOUS, or undefined if the series belongs to no node
   */
  resolve(node: string | undefined, instance: string | undefined): Resolution;
}

/**
 * Creates a resolver for the given nodes. The map must not change while the resolver is in use. "Host" is a name, a hostname or an address of a
 * node, in any case.
 *
 * | label `node`                          | `instance`                           | the series is of             |
 * |---------------------------------------|--------------------------------------|------------------------------|
 * | a node's name                         | any                                  | that node                    |
 * | a host                                | any                                  | the node of the host         |
 * | a domain name whose first part is a node's name | a host of that node        | that node                    |
 * | anything else                         | any                                  | no node: addresses of different clusters may overlap |
 * | none                                  | a host                               | the node of the host         |
 */
export function createNodeResolver(nodes: ReadonlyMap<string, KnownNode>): NodeResolver {
  // Filled on demand: series with the label `node`, which the deployed Prometheus adds, need neither map.
  let hosts: ReadonlyMap<string, string | typeof AMBIGUOUS> | undefined;
  const byHost = new Map<string, Resolution>();
  const lookUp = (host: string): Resolution => {
    hosts ??= indexHosts(nodes);
    const found = hosts.get(canonicalHost(hostOf(host)));
    byHost.set(host, found);
    return found;
  };
  const ofHost = (host: string | undefined): Resolution => {
    if (!host) return undefined;
    return byHost.has(host) ? byHost.get(host) : lookUp(host);
  };
  return {
    resolve(node, instance) {
      if (!node) return ofHost(instance);
      if (nodes.has(node)) return node;
      const found = ofHost(node);
      if (found !== undefined) return found;
      const other = ofHost(instance);
      return typeof other === 'string' && isDomainOf(node, other) ? other : undefined;
    },
  };
}

/** True if the first part of a domain name is the first part of the node's name: "n1.example.com" of "n1". */
function isDomainOf(domain: string, node: string): boolean {
  if (isIP(domain) !== 0 || isIP(node) !== 0) return false;
  return firstPart(domain) === firstPart(node);
}

function firstPart(name: string): string {
  return name.split('.', 1).join('').toLowerCase();
}

function indexHosts(nodes: ReadonlyMap<string, KnownNode>): Map<string, string | typeof AMBIGUOUS> {
  const index = new Map<string, string | typeof AMBIGUOUS>();
  for (const [name, node] of nodes) {
    for (const address of node.addresses ?? []) {
      const host = canonicalHost(address);
      const other = index.get(host);
      index.set(host, other === undefined || other === name ? name : AMBIGUOUS);
    }
  }
  // The name of a node takes precedence over the address of another node.
  for (const name of nodes.keys()) index.set(canonicalHost(name), name);
  return index;
}

/** The host of "host", "host:port", "[v6]:port" or a bare IPv6 address. */
export function hostOf(instance: string): string {
  if (instance.startsWith('[')) return instance.slice(1, instance.includes(']') ? instance.indexOf(']') : undefined);
  const colon = instance.indexOf(':');
  return colon >= 0 && colon === instance.lastIndexOf(':') ? instance.slice(0, colon) : instance;
}

/** The host in lower case, and an IPv6 address in its canonical form (RFC 5952). */
function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  if (!lower.includes(':') || !isIPv6(lower)) return lower;
  const [address = lower] = lower.split('%');
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** True if the host is a hostname or an address that the node lists, in any form. */
export function listsHost({ addresses = [] }: KnownNode, host: string): boolean {
  if (addresses.includes(host)) return true;
  const canonical = canonicalHost(host);
  return addresses.some((each) => canonicalHost(each) === canonical);
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** An address of a node's series that the Node does not list. */
interface UnlistedAddress {
  readonly address: string;
  /** The range in spec.podCIDRs of the Node that contains the address: Kubernetes gives it to pods of this node alone. */
  readonly podCIDR?: string;
}

/**
 * Returns the address in the `instance` of a node's series if it is none of the node's own: the series may describe the network of a
 * pod, whatever their label `node` says.
 *
 * | `instance`                                                | result |
 * |-----------------------------------------------------------|---------------------------|
 * | a name, for example of the node after a relabelling       | undefined: the address is not known |
 * | an address in status.addresses of the Node, or of the loopback: a collector on the node scrapes it | undefined |
 * | any other address, while the Node lists no address        | undefined |
 * | any other address within spec.podCIDRs of the Node        | with the range: it is the address of a pod |
 * | any other address: of a second NIC, behind NAT, of a pod of a network plugin with its own ranges | without a range: only the devices can tell these apart |
 */
export function unlistedAddressOf(node: KnownNode, instance: string | undefined): UnlistedAddress | undefined {
  const { podCIDRs = [], addresses = [] } = node;
  if (instance === undefined) return undefined;
  const host = hostOf(instance);
  if (isIP(host) === 0 || listsHost(node, host)) return undefined;
  const address = canonicalHost(host);
  if (LOOPBACK.some((cidr) => contains(cidr, address))) return undefined;
  const podCIDR = podCIDRs.find((each) => contains(each, address));
  if (podCIDR !== undefined) return { address, podCIDR };
  return addresses.some((each) => isIP(each) !== 0) ? { address } : undefined;
}

function contains(cidr: string, address: string): boolean {
  const [network = '', length = ''] = cidr.split('/');
  if (isIP(network) === 0 || isIP(network) !== isIP(address) || !/^\d{1,3}$/.test(length)) return false;
  const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
  const most = family === 'ipv4' ? 32 : 128;
  if (Number(length) > most) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(length), family);
  return block.check(address, family);
}
