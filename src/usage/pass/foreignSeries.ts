import { hostOf, listsHost, unlistedAddressOf, type KnownNode, type NodeResolver } from '../../nodes/nodeNames.ts';
import type { NodeFacts } from '../evaluate/nodeFacts.ts';
import type { Problem } from '../evaluate/usageReason.ts';

/** A node, and the facts of the series that name it. */
interface Named {
  readonly node: string;
  readonly known: KnownNode;
  readonly facts: NodeFacts | undefined;
  readonly resolver: NodeResolver;
}

/**
 * Returns why the series say nothing of the node although they name it; undefined if nothing speaks against them.
 *
 * | `instance`                                    | devices that count            | result                                              |
 * |-----------------------------------------------|-------------------------------|-----------------------------------------------------|
 * | an address or a name of the node              | any                           | the node is measured                                |
 * | an address or a name of another node          | any                           | the node is not measured: one of both labels is wrong |
 * | another name, or an address of the loopback   | any                           | the node is measured: the address is not known      |
 * | another address                               | have the driver of a NIC, all | the node is measured: a collector in a pod passes on the series of the host, or the address is of a second NIC |
 * | another address                               | any other, or none            | the node is not measured: the series may be of the network of a pod |
 */
export function foreignSeries({ node, known, facts, resolver }: Named): Problem | undefined {
  const instance = facts?.soleInstance;
  if (facts === undefined || instance === undefined) return undefined;
  const host = hostOf(instance);
  if (host === node || listsHost(known, host)) return undefined;
  const owner = resolver.resolve(undefined, instance);
  if (owner !== undefined && owner !== node) return { reason: 'AmbiguousSeries', message: mixedUp(instance, owner) };
  return podNetwork(known, facts, instance);
}

function mixedUp(instance: string, owner: string | symbol): string {
  const whose = typeof owner === 'string' ? `node ${owner}` : 'other nodes';
  return (
    `the label node of its series is this node, and their instance ${JSON.stringify(instance)} is of ${whose}: ` +
    'correct the relabelling, so that both labels are of the node with the exporter'
  );
}

/**
 * An exporter in the network of a pod counts the traffic of the pod. If it reads `/sys` of the host, speed, flags and link are of the NIC of
 * that name on the host, so they prove nothing; the driver is asked in the network of the pod. Not each network plugin has its addresses in
 * spec.podCIDRs: Calico's own IPAM and the VPC plugins of AWS and Azure do not.
 */
function podNetwork(known: KnownNode, { devices: { counted } }: NodeFacts, instance: string): Problem | undefined {
  const unlisted = unlistedAddressOf(known, instance);
  if (unlisted === undefined || (counted.length > 0 && counted.every(({ isNic }) => isNic))) return undefined;
  const why =
    unlisted.podCIDR === undefined
      ? 'is no address of the node (status.addresses), so its series may be of the network of a pod'
      : `is the address of a pod (in ${unlisted.podCIDR}, spec.podCIDRs), so its series are of the network of that pod`;
  const message =
    `instance ${JSON.stringify(instance)} ${why}: run node-exporter with hostNetwork; ` +
    'if the series are of the host, as from a collector in a pod or from another address of the node, enable --collector.ethtool of node-exporter';
  return { reason: 'NoHostNetwork', message };
}
