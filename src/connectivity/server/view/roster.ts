import type { ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { settingsOf, type CheckSettings } from '../../assign/checkSettings.ts';
import { preferred, type AgentPod } from '../pods/agentPod.ts';
import { hasAgents, type ClusterNode } from './clusterNode.ts';

/** The nodes, checks and agents in the caches. */
export interface Roster {
  /** The nodes that have agents. */
  readonly nodes: readonly ClusterNode[];
  /** Sorted by name, so that assignments do not depend on when a check was first seen. */
  readonly checks: readonly CheckSettings[];
  /** One of each node and plane. */
  readonly agents: readonly AgentPod[];
  /** The agent of a node and plane; undefined if it has no pod. */
  readonly agentOf: (node: string, plane: Plane) => AgentPod | undefined;
  /** Reports decided which of several pods is the agent of a place, and may decide otherwise later. */
  readonly isContested: boolean;
}

/**
 * Combines the objects of the caches. Leaves out pods whose ServiceAccount may not report, and pods on nodes that have no
 * agents: KWOK shows such pods as running, and they never report.
 *
 * @param reports whether a pod has a current report with a token
 */
export function rosterOf(
  nodes: readonly ClusterNode[],
  pods: readonly AgentPod[],
  checks: readonly ConnectivityCheck[],
  reports: (pod: AgentPod) => boolean,
): Roster {
  const places: Record<Plane, Map<string, AgentPod>> = { Pod: new Map(), Host: new Map() };
  const without = new Set(nodes.filter((node) => !hasAgents(node)).map(({ name }) => name));
  let isContested = false;
  for (const agent of pods) {
    if (!agent.isListed || agent.place === '' || without.has(agent.place)) continue;
    const known = places[agent.plane].get(agent.place);
    isContested ||= known?.phase === agent.phase;
    places[agent.plane].set(agent.place, known === undefined ? agent : preferred(known, agent, reports));
  }
  return {
    nodes: nodes.filter(hasAgents),
    checks: checks.map(settingsOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    agents: [...places.Pod.values(), ...places.Host.values()],
    agentOf: (node, plane) => places[plane].get(node),
    isContested,
  };
}
