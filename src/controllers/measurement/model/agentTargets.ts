import type { V1EndpointSlice } from '@kubernetes/client-node';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { AGENT_NAME, HOST_AGENT_NAME, PEER_PORT_NAME } from '../../../connectivity/objects/names.ts';
import { targetsOf, type TargetGroup } from './discovery.ts';

/** The Services of the agents, by the network that the agents measure. */
export const AGENT_SERVICES: readonly (readonly [plane: Plane, service: string])[] = [
  ['Pod', AGENT_NAME],
  ['Host', HOST_AGENT_NAME],
];

/**
 * Returns the agents to scrape: one group for each node, sorted by node, with the agents that run there.
 *
 * The plane of an agent is part of its address, as in 10.0.0.1:8082/Host, and Prometheus moves it to a label. With a group
 * for each agent, the files would be twice as large: the name of the node is the larger part of a group.
 *
 * @param slices the EndpointSlices of the Services of the agents; others are ignored
 */
export function agentTargetsOf(slices: readonly V1EndpointSlice[]): TargetGroup[] {
  const byNode = new Map<string, string[]>();
  for (const [plane, service] of AGENT_SERVICES) {
    const own = slices.filter(({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === service);
    for (const { node, address } of targetsOf(own, PEER_PORT_NAME)) {
      byNode.set(node, [...(byNode.get(node) ?? []), `${address}/${plane}`]);
    }
  }
  return [...byNode].map(([node, addresses]) => ({ node, addresses })).sort((a, b) => (a.node < b.node ? -1 : 1));
}
