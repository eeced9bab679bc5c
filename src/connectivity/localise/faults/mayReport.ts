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

/** When the network of one node worked. */
interface OfNode {
  /** Time of the last measurement that worked between this node and another node, ms. */
  worked: number;
  /**
   * A pair works only since its last measurement: before, it did not work, or its agent was cut off and did not measure. A
   * pair that is new in the rotation does not count.
   */
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
  const links = linksOf(serverNode, known.pairs);
  return (agent) => {
    const { dueAt, node } = agent;
    if (dueAt === undefined) return true;
    const own = PLANES.flatMap((plane) => nodes.get(placeOf(node, plane)) ?? []);
    const servers =
      serverNode === undefined ? [] : PLANES.flatMap((plane) => nodes.get(placeOf(serverNode, plane)) ?? []);
    if ([...own, ...servers].some(({ recovered }) => recovered)) return false;
    if (own.some(({ worked }) => worked < dueAt)) return false;
    return serverNode === node || (reports(node) >= dueAt && linkWorked(links.get(node) ?? [], dueAt));
  };
}

function nodesOf(pairs: readonly Pair[], ends: ReadonlySet<string>): Map<string, OfNode> {
  const nodes = new Map<string, OfNode>();
  for (const pair of pairs) {
    for (const node of [pair.from, pair.to]) if (ends.has(node)) add(nodes, placeOf(node, pair.plane), pair);
  }
  return nodes;
}

function add(nodes: Map<string, OfNode>, place: string, pair: Pair): void {
  const known = nodes.get(place) ?? { worked: -Infinity, recovered: false };
  if (pair.quality !== 'Failed') known.worked = Math.max(known.worked, pair.last);
  known.recovered ||= isRecovered(pair);
  nodes.set(place, known);
}

/** Whether the pair is Ok, or lets any packet pass, only since its last measurement. */
function isRecovered({ quality, since, failedSince, last, isFirst }: Pair): boolean {
  if (isFirst) return false;
  return (quality === 'Ok' && since === last) || (quality !== 'Failed' && failedSince === last);
}

/**
 * Returns when another node last reported, which shows that the given node can also reach the server. In a zone without the
 * server, nodes of the same zone count if there are others; else all nodes count. Infinity without another node.
 */
function lastReports({ view: { serverNode }, agents, zones }: Known): (node: string) => number {
  const all = new Latest();
  const byZone = new Map<string, Latest>();
  for (const { node, times } of agents.all()) {
    if (node === serverNode || times === undefined) continue;
    all.add(node, times.reportedAt);
    const zone = zones.get(node);
    if (zone === undefined) continue;
    const ofZone = byZone.get(zone) ?? new Latest();
    ofZone.add(node, times.reportedAt);
    byZone.set(zone, ofZone);
  }
  return (node) => {
    const zone = zones.get(node);
    const isFar = zone !== undefined && zone !== zones.get(serverNode ?? '');
    return (isFar ? byZone.get(zone)?.without(node) : undefined) ?? all.without(node) ?? Infinity;
  };
}

/** The latest time of any node but one, without a look at all of them: an outage may silence thousands of agents. */
class Latest {
  #node: string | undefined;
  #time = -Infinity;
  /** The latest time of the other nodes. */
  #second = -Infinity;

  add(node: string, time: number): void {
    if (node === this.#node) {
      this.#time = Math.max(this.#time, time);
    } else if (time > this.#time) {
      [this.#second, this.#time, this.#node] = [this.#time, time, node];
    } else {
      this.#second = Math.max(this.#second, time);
    }
  }

  /** Undefined if there is no other node. */
  without(node: string): number | undefined {
    const time = node === this.#node ? this.#second : this.#time;
    return time === -Infinity ? undefined : time;
  }
}

/** Returns the pairs between a node and other nodes, by the name of the other node. */
function linksOf(node: string | undefined, pairs: readonly Pair[]): Map<string, Pair[]> {
  const links = new Map<string, Pair[]>();
  for (const pair of pairs) {
    if (pair.from !== node && pair.to !== node) continue;
    const other = pair.from === node ? pair.to : pair.from;
    const known = links.get(other);
    if (known === undefined) links.set(other, [pair]);
    else known.push(pair);
  }
  return links;
}

function linkWorked(pairs: readonly Pair[], since: number): boolean {
  const planes = new Set<Plane>(pairs.map(({ plane }) => plane));
  return [...planes].every((plane) =>
    pairs.some((pair) => pair.plane === plane && pair.quality !== 'Failed' && pair.last >= since),
  );
}
