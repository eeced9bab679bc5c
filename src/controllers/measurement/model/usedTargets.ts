import type { V1Pod } from '@kubernetes/client-node';
import { addressOf, addressOn, type NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { bestOfEachNode, type Target } from './discovery.ts';

/**
 * Returns one target for each node that has a pod of an exporter, at the address of the node, sorted by node. As with EndpointSlices, a pod
 * that is not ready is also a target.
 *
 * @param pods the pods of a DaemonSet with hostNetwork
 * @param port the port of the exporter
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
 * Returns one target for each node that can be measured and has an IP address, sorted by node: for a program without a Kubernetes object, such as a
 * systemd unit. The scrape shows whether it runs on a node.
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

/** Merges targets, sorted by node. A node in both lists has the target of the first: two targets would count its traffic twice. */
export function mergeTargets(first: readonly Target[], others: readonly Target[]): Target[] {
  const nodes = new Set(first.map(({ node }) => node));
  const all = [...first, ...others.filter(({ node }) => !nodes.has(node))];
  return all.sort((a, b) => (a.node < b.node ? -1 : 1));
}
