import type { PeerResult } from '../../protocol/measurement.ts';
import type { AgentView, ClusterView } from '../view.ts';
import { seeded } from './random.ts';
import { clusterOf } from './simCluster.ts';
import { simulate } from './simulate.ts';

/** The view of a cluster without a fault. */
export function healthy(size: number): ClusterView {
  return simulate(clusterOf(size), [], seeded(1));
}

/** Changes agents of a view. */
export function agents(view: ClusterView, change: (agent: AgentView) => Partial<AgentView>): ClusterView {
  return { ...view, agents: view.agents.map((agent) => ({ ...agent, ...change(agent) })) };
}

/** Changes what agents measured. */
export function measured(
  view: ClusterView,
  change: (from: AgentView, to: PeerResult) => Partial<PeerResult>,
): ClusterView {
  return agents(view, (agent) => ({ peers: agent.peers.map((peer) => ({ ...peer, ...change(agent, peer) })) }));
}
