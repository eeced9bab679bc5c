import { PLANES, type Exclusion, type Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Family } from '../pairs/quality.ts';
import type { AgentView, ClusterView } from '../view.ts';
import { pick } from './random.ts';
import { aStack, someFamilies } from './faultSets.ts';
import { clusterOf, type SimCluster, type SimFault } from './simCluster.ts';
import { reportsOf, simulate } from './simulate.ts';

/** The server's view at one step of maintenance. */
export interface Step {
  readonly name: string;
  readonly view: ClusterView;
}

/** How a node or its agents look in a step. Only an agent that starts or reports can be recent, see AgentView. */
type Look = NodeLook &
  ({ readonly state: 'Reporting' | 'Starting'; readonly recent?: boolean } | { readonly state: 'Silent' | 'Absent' });

interface NodeLook {
  readonly name: string;
  readonly excluded?: Exclusion;
  /** Others measure, or measured before, that the node does not answer. */
  readonly unreachable: boolean;
  /** The node is no longer in the list, although its agents may be. */
  readonly gone?: boolean;
}

const DRAIN: readonly Look[] = [
  { name: 'cordoned', excluded: 'Cordoned', state: 'Reporting', unreachable: false },
  { name: 'agents deleted', excluded: 'Cordoned', state: 'Absent', unreachable: true },
  { name: 'rebooting', excluded: 'Cordoned', state: 'Silent', unreachable: true },
  { name: 'not ready', excluded: 'NotReady', state: 'Silent', unreachable: true },
];
const RETURN: readonly Look[] = [
  { name: 'joining, agents to be scheduled', excluded: 'Joining', state: 'Absent', unreachable: true },
  { name: 'joining, agents starting', excluded: 'Joining', state: 'Starting', unreachable: true },
  {
    name: 'joining, first reports before its network works',
    excluded: 'Joining',
    state: 'Reporting',
    unreachable: true,
  },
  { name: 'ready, old reports of others', state: 'Starting', unreachable: true },
  { name: 'ready, first reports, old reports of others', state: 'Reporting', recent: true, unreachable: true },
  { name: 'ready', state: 'Reporting', unreachable: false },
];
const SCALE_DOWN: readonly Look[] = [
  ...DRAIN,
  { name: 'leaving', excluded: 'Leaving', state: 'Reporting', unreachable: true },
  { name: 'gone, its agents still listed', state: 'Silent', unreachable: true, gone: true },
  { name: 'gone', state: 'Absent', unreachable: true, gone: true },
];
/** The DaemonSet replaces the pods of one plane while the node stays in use. */
const ROLLOUT: readonly Look[] = [
  { name: 'agent deleted', state: 'Absent', unreachable: true },
  { name: 'agent starting', state: 'Starting', unreachable: true },
  { name: 'new agent reports, old reports of others', state: 'Reporting', recent: true, unreachable: true },
  { name: 'new agent', state: 'Reporting', unreachable: false },
];
const STORIES = {
  drain: [...DRAIN, ...RETURN],
  scaleDown: SCALE_DOWN,
  scaleUp: RETURN,
  upgradeNode: [...SCALE_DOWN, ...RETURN],
  upgradeAgents: ROLLOUT,
};

/** The steps of a random piece of maintenance of one node, or of some nodes at a time. */
export function aReplay(random: () => number): Step[] {
  const size = Math.round(3 * 33 ** (random() ** 2));
  const cluster = clusterOf(size, 1 + Math.floor(random() * 3), { overlay: random() < 0.5, ...aStack(random) });
  const story = pick(Object.keys(STORIES) as (keyof typeof STORIES)[], random);
  const others = cluster.nodes
    .slice(1)
    .map(({ name }) => name)
    .sort(() => random() - 0.5);
  const nodes = others.slice(0, 1 + Math.floor(random() * Math.ceil(others.length / 3)));
  const planes = story === 'upgradeAgents' ? [pick(PLANES, random)] : PLANES;
  // A plugin may set up one family later than the other.
  const unreachable = { planes, does: 'cut', ...someFamilies(cluster, random) } as const;
  return STORIES[story].map((look) => ({
    name: `${story} of ${nodes.join()} of ${size} nodes: ${look.name}`,
    view: viewOf(cluster, nodes, unreachable, look, random),
  }));
}

/** Over which planes and families the nodes do not answer. */
interface Unreachable {
  readonly planes: readonly Plane[];
  readonly families?: readonly Family[];
  readonly does: 'cut';
}

function viewOf(
  cluster: SimCluster,
  nodes: readonly string[],
  unreachable: Unreachable,
  look: Look,
  random: () => number,
): ClusterView {
  const { planes } = unreachable;
  const faults: SimFault[] = look.unreachable ? nodes.map((node) => ({ at: 'node', node, ...unreachable })) : [];
  const view = simulate(cluster, faults, random);
  const own = ownReports(cluster, nodes, planes, faults, random);
  return {
    ...view,
    nodes: view.nodes
      .filter(({ name }) => !(look.gone === true && nodes.includes(name)))
      .map((node) =>
        nodes.includes(node.name) && look.excluded !== undefined ? { ...node, excluded: look.excluded } : node,
      ),
    agents: view.agents.map((agent) => {
      if (!nodes.includes(agent.node)) return agent;
      const place = own.get(`${agent.plane}/${agent.node}`) ?? agent;
      if (!planes.includes(agent.plane)) return place;
      if (look.state !== 'Reporting') return { ...agent, ...bare(look), peers: [], targets: [], heard: [] };
      return { ...place, ...bare(look) };
    }),
  };
}

function bare(look: Look): Pick<AgentView, 'state' | 'recent'> {
  return { state: look.state, ...('recent' in look && { recent: look.recent }) };
}

/** Returns the reports that the agents of the nodes would send in the step, by plane and node. */
function ownReports(
  cluster: SimCluster,
  nodes: readonly string[],
  planes: readonly Plane[],
  faults: readonly SimFault[],
  random: () => number,
): Map<string, AgentView> {
  const reports = nodes.flatMap((node) => reportsOf(cluster, node, faults, random));
  const failing = faults.length > 0;
  return new Map(
    reports.map((agent) => {
      const targets = agent.targets.map((target) =>
        failing && planes.includes(agent.plane) ? ({ ...target, ok: false, error: 'Timeout' } as const) : target,
      );
      return [`${agent.plane}/${agent.node}`, { ...agent, targets }];
    }),
  );
}
