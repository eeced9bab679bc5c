import type { V1Pod } from '@kubernetes/client-node';
import { addressOf, addressOn, type NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { bestOfEachNode, type Target } from './discovery.ts';

/**
 * One target for each node that has a pod of an exporter, at the address of the node, sorted by node. As with EndpointSlices, a pod that is not
 * ready is a target, too.
 *
 * @param pods of a DaemonSet with hostNetwork
 * @param port that they listen on
 */
export function targetsOfPods(pods: readonly V1Pod[], port: number): Target[] {
  return bestOfEachNode(
    pods.flatMap((pod) => {
      const { spec, status } = pod;
      if (!spec?.nodeName || !status?.hostIP) return [];
      return [{ node: spec.nodeName, address: addressOf(status.hostIP, port), rank: rankOf(pod) }];
    }),
  );
}

/**
 * One target for each node that can be measured and has an IP address, sorted by node: of a program that no object shows, as systemd runs it. Whether
 * it runs on a node, the scrape tells.
 */
export function targetsOfNodes(nodes: readonly NodeAddresses[], port: number): Target[] {
  const targets = nodes.flatMap((node) => {
    const address = addressOn(node, port);
    return address === undefined ? [] : [{ node: node.name, address }];
  });
  return targets.sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** Ready, not ready, terminating. */
function rankOf({ metadata, status }: V1Pod): number {
  if (metadata?.deletionTimestamp !== undefined) return 2;
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true ? 0 : 1;
}

/** The targets of both, sorted by node; of a node that has both the first one. Two on one node would count its traffic twice. */
export function mergeTargets(first: readonly Target[], others: readonly Target[]): Target[] {
  const nodes = new Set(first.map(({ node }) => node));
  const all = [...first, ...others.filter(({ node }) => !nodes.has(node))];
  return all.sort((a, b) => (a.node < b.node ? -1 : 1));
}
