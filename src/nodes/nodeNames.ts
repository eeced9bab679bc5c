import { isIPv6 } from 'node:net';

/** What is known of a node apart from its series. */
export interface KnownNode {
  /** The annotation that stands in for the capacity of its network, as it was written. */
  capacity?: string;
  /** Hostname and addresses by which series may call it. */
  addresses?: readonly string[];
}

/** Several nodes claim the name. */
export const AMBIGUOUS = Symbol('ambiguous');
export type Resolution = string | typeof AMBIGUOUS | undefined;

/** Which node a series speaks of. */
export interface NodeResolver {
  /**
   * @param node label `node` of a series
   * @param instance label `instance` of a series
   * @returns the node's name, AMBIGUOUS, or undefined where no node is meant
   */
  resolve(node: string | undefined, instance: string | undefined): Resolution;
}

/**
 * Resolves series among the given nodes. A `node` label decides alone: another cluster's node keeps its name even
 * where the two clusters' addresses overlap. Without one, the host in `instance` is looked up among the nodes' names,
 * hostnames and addresses. The nodes are read while the resolver is in use and must not change.
 */
export function createNodeResolver(nodes: ReadonlyMap<string, KnownNode>): NodeResolver {
  // Neither is needed where all series carry `node`, as those of our own Prometheus do.
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
  // A node's own name is stronger than an address that another node claims.
  for (const name of nodes.keys()) index.set(canonicalHost(name), name);
  return index;
}

/** The host of "host", "host:port", "[v6]:port" or a bare IPv6 address. */
export function hostOf(instance: string): string {
  if (instance.startsWith('[')) return instance.slice(1, instance.includes(']') ? instance.indexOf(']') : undefined);
  const colon = instance.indexOf(':');
  return colon >= 0 && colon === instance.lastIndexOf(':') ? instance.slice(0, colon) : instance;
}

/** Lower case; an IPv6 address in its shortest form (RFC 5952), since it can be written in many. */
function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  if (!lower.includes(':') || !isIPv6(lower)) return lower;
  const [address = lower] = lower.split('%');
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}
