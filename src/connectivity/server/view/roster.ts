import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { settingsOf, type CheckSettings } from '../../assign/checkSettings.ts';
import { preferred, type AgentPod } from '../pods/agentPod.ts';
import { isLinux, type ClusterNode } from './clusterNode.ts';

/** What the caches have of the cluster. */
export interface Roster {
  /** Linux nodes, by name. */
  readonly nodes: readonly ClusterNode[];
  readonly checks: readonly CheckSettings[];
  /** One of each node and plane. */
  readonly agents: readonly AgentPod[];
  /** The agent of a node and plane; undefined if it has no pod. */
  readonly agentOf: (node: string, plane: Plane) => AgentPod | undefined;
}

/** Puts together what the caches have. */
export function rosterOf(
  nodes: readonly ClusterNode[],
  pods: readonly AgentPod[],
  checks: readonly ConnectivityCheck[],
): Roster {
  const places: Record<Plane, Map<string, AgentPod>> = { Pod: new Map(), Host: new Map() };
  for (const agent of pods) {
    const known = places[agent.plane].get(agent.node);
    places[agent.plane].set(agent.node, known === undefined ? agent : preferred(known, agent));
  }
  return {
    nodes: nodes.filter(isLinux),
    checks: checks.map(settingsOf),
    agents: [...places.Pod.values(), ...places.Host.values()],
    agentOf: (node, plane) => places[plane].get(node),
  };
}
