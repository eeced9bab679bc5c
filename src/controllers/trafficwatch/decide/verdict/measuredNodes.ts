import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import { once } from '../once.ts';

/** A node, and how full it was. */
export interface MeasuredNode {
  readonly node: NodeView;
  /** Which of the nodes it is, from 0. */
  readonly place: number;
  /** Its usage, newest pass first; undefined where the pass failed or does not know the node. */
  readonly passes: readonly (NodeUsage | undefined)[];
}

type Seen = Pick<Observation, 'nodes' | 'passes'>;

let latest: { readonly seen: Seen; readonly nodes: readonly MeasuredNode[] } | undefined;

/**
 * The nodes with what the passes say of them, in the order of the nodes. The last answer is kept: after a pass all
 * TrafficWatches come with the same nodes and passes, and looking up ten thousand names is half of what each costs.
 */
export function measuredNodes({ nodes, passes }: Seen): readonly MeasuredNode[] {
  const seen = latest?.seen;
  if (latest === undefined || seen?.nodes !== nodes || seen.passes !== passes) {
    const measured = nodes.map((node, place) => ({
      node,
      place,
      passes: passes.map((pass) => pass.nodes.get(node.name)),
    }));
    latest = { seen: { nodes, passes }, nodes: measured };
  }
  return latest.nodes;
}

/** Node name -> which of the nodes it is, from 0. */
export const placesOf = once(
  (nodes: readonly Pick<NodeView, 'name'>[]): ReadonlyMap<string, number> =>
    new Map(nodes.map(({ name }, place) => [name, place])),
);
