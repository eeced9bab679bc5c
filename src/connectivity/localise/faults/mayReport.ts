import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { PLANES } from '../../../api/connectivitycheck/terms.ts';
import { placeOf, type AgentsByPlace, type Pair } from '../pairs/pair.ts';
import type { AgentView, ClusterView } from '../view.ts';
import type { Zones } from './scope.ts';

interface Known {
  readonly view: ClusterView;
  readonly agents: AgentsByPlace;
  readonly zones: Zones;
  readonly pairs: readonly Pair[];
}

/** What was measured of the network of one node. */
interface OfNode {
  /** The last measurement by or of another node that worked. */
  worked: number;
  /** Something works since the last measurement only. */
  recovered: boolean;
}

/**
 * Whether the network was seen to work since a silent agent's report was due, so that the silence is its own. When a fault
 * of the network begins, an agent may be silent before others have measured the fault; when it ends, others may have
 * measured that before the agent has reported again.
 *
 * | path of the report | must have worked since then |
 * |---|---|
 * | the agent's node, on both planes, where it is measured | a pair with another node; none that works only since its last measurement |
 * | the server's node | the same, and a report of another node, of the agent's zone if it has other nodes |
 * | between both | the pairs of both nodes, if they work |
 */
export function mayReport(known: Known): (agent: AgentView) => boolean {
  const { serverNode, agents: list } = known.view;
  const silent = list.filter(({ dueAt }) => dueAt !== undefined);
  const ends = new Set([...silent.map(({ node }) => node), ...(serverNode === undefined ? [] : [serverNode])]);
  const nodes = silent.length === 0 ? new Map<string, OfNode>() : nodesOf(known.pairs, ends);
  const reports = lastReports(known);
  return (agent) => {
    const { dueAt, node } = agent;
    if (dueAt === undefined) return true;
    const own = PLANES.flatMap((plane) => nodes.get(placeOf(node, plane)) ?? []);
    const servers =
      serverNode === undefined ? [] : PLANES.flatMap((plane) => nodes.get(placeOf(serverNode, plane)) ?? []);
    if ([...own, ...servers].some(({ recovered }) => recovered)) return false;
    if (own.some(({ worked }) => worked < dueAt)) return false;
    return serverNode === node || (reports(node) >= dueAt && linkWorked(known.pairs, node, serverNode, dueAt));
  };
}

function nodesOf(pairs: readonly Pair[], ends: ReadonlySet<string>): Map<string, OfNode> {
  const nodes = new Map<string, OfNode>();
  for (const pair of pairs) {
    for (const node of [pair.from, pair.to]) if (ends.has(node)) add(nodes, placeOf(node, pair.plane), pair);
  }
  return nodes;
}

function add(nodes: Map<string, OfNode>, place: string, { quality, last, recovered }: Pair): void {
  const known = nodes.get(place) ?? { worked: -Infinity, recovered: false };
  if (quality !== 'Failed') known.worked = Math.max(known.worked, last);
  known.recovered ||= recovered;
  nodes.set(place, known);
}

/** The last report that shows that a node may reach the server: of its zone, or else of all; Infinity if nobody else is. */
function lastReports({ view: { serverNode }, agents, zones }: Known): (node: string) => number {
  const others = agents.all().filter(({ node, times }) => node !== serverNode && times !== undefined);
  return (node) => {
    const zone = zones.get(node);
    const far = zone !== undefined && zone !== zones.get(serverNode ?? '');
    const near = far ? others.filter((other) => other.node !== node && zones.get(other.node) === zone) : [];
    const all = near.length > 0 ? near : others.filter((other) => other.node !== node);
    if (all.length === 0) return Infinity;
    return all.reduce((latest, { times }) => Math.max(latest, times?.reportedAt ?? -Infinity), -Infinity);
  };
}

function linkWorked(pairs: readonly Pair[], node: string, server: string | undefined, since: number): boolean {
  const between = pairs.filter(({ from, to }) => (from === node && to === server) || (from === server && to === node));
  const planes = new Set<Plane>(between.map(({ plane }) => plane));
  return [...planes].every((plane) =>
    between.some((pair) => pair.plane === plane && pair.quality !== 'Failed' && pair.last >= since),
  );
}
