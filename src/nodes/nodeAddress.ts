import { isIP } from 'node:net';
import type { CachedNode } from './cachedNode.ts';

/** Where a node is reached, if it can be measured. */
export type NodeAddresses = Pick<CachedNode, 'name' | 'addresses' | 'neverMeasured'>;

/**
 * Where programs with the network of a node listen on a port, as host:port: at the first IP of status.addresses, where kubelets have the
 * internal ones first. Undefined if it has none, or cannot be measured.
 */
export function addressOn({ addresses, neverMeasured }: NodeAddresses, port: number): string | undefined {
  const ip = neverMeasured === undefined ? addresses.find((address) => isIP(address) !== 0) : undefined;
  return ip === undefined ? undefined : addressOf(ip, port);
}

/** @param host an IP address; of IPv6 it needs brackets */
export function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
