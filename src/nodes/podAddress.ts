import { BlockList, isIP } from 'node:net';
import { canonicalHost, hostOf, type KnownNode } from './nodeNames.ts';

/** An address in the network of the pods of a node. */
export interface PodAddress {
  readonly address: string;
  /** The range in spec.podCIDRs of the Node that contains the address. */
  readonly podCIDR: string;
}

/**
 * Returns the address of a pod if the `instance` of a node's series contains one: the series then describe the network of this
 * pod, whatever their label `node` says. Undefined unless the address certainly belongs to a pod:
 *
 * | `instance`                                                | is the address of a pod |
 * |-----------------------------------------------------------|-------------------------|
 * | a name, for example of the node after a relabelling       | no: the address is not known |
 * | an address in status.addresses of the Node                | no |
 * | any other address within spec.podCIDRs of the Node        | yes: Kubernetes gives it to pods of this node alone |
 * | any other address: of a second NIC, behind NAT, of a pod of a network plugin with its own ranges | no: the operator cannot tell these apart |
 */
export function podAddressOf(node: KnownNode, instance: string | undefined): PodAddress | undefined {
  const { podCIDRs = [], addresses = [] } = node;
  if (podCIDRs.length === 0 || instance === undefined) return undefined;
  const host = hostOf(instance);
  if (addresses.includes(host) || isIP(host) === 0) return undefined;
  const address = canonicalHost(host);
  if (addresses.some((each) => canonicalHost(each) === address)) return undefined;
  const podCIDR = podCIDRs.find((each) => contains(each, address));
  return podCIDR === undefined ? undefined : { address, podCIDR };
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
