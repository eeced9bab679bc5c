import { isIPv6 } from 'node:net';
import type { StatedCapacity } from './statedCapacity.ts';

/** The properties of a node that do not come from series. */
export interface KnownNode {
  /** The capacity of its network that the Node states. It replaces the speeds of the devices. */
  capacity?: StatedCapacity;
  /** The hostname and the addresses that series may use for the node. */
  addresses?: readonly string[];
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
 * Creates a resolver for the given nodes. If a series has the label `node`, only that label counts, because addresses
 * of different clusters may overlap. Otherwise, the host in `instance` is looked up among the names, hostnames and
 * addresses of the nodes. The map must not change while the resolver is in use.
 */
export function createNodeResolver(nodes: ReadonlyMap<string, KnownNode>): NodeResolver {
  // Filled on demand: series with the label `node`, such as those of the deployed Prometheus, need neither map.
  let hosts: ReadonlyMap<string, string | typeof AMBIGUOUS> | undefined;
  const byInstance = new Map<string, Resolution>();
  const lookUp = (instance: string): Resolution => {
    hosts ??= indexHosts(nodes);
    const found = hosts.get(canonicalHost(hostOf(instance)));
    byInstance.set(instance, found);
    return found;
  };
  return {
    resolve(node, instance) {
      if (node) return nodes.has(node) ? node : undefined;
      if (!instance) return undefined;
      return byInstance.has(instance) ? byInstance.get(instance) : lookUp(instance);
    },
  };
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
