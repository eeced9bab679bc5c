import type { NodeUsage } from '../../../usage/evaluate/percent.ts';

/** How many nodes with the highest percent the status of a large cluster lists, whatever their verdict. */
export const HOTTEST_LISTED = 20;

/** A node with its usage, newest pass first; undefined if the pass has none. */
interface Used {
  readonly node: { readonly name: string };
  readonly passes: readonly (Pick<NodeUsage, 'percent'> | undefined)[];
}

/** Sorts nodes by name. */
export function byName({ node: { name: a } }: Pick<Used, 'node'>, { node: { name: b } }: Pick<Used, 'node'>): number {
  return a < b ? -1 : 1;
}

function byPercent(a: Used, b: Used): number {
  return (b.passes[0]?.percent ?? -1) - (a.passes[0]?.percent ?? -1) || byName(a, b);
}

/** The first `most` nodes in order. One loop: sorting ten thousand nodes takes longer than deciding them. */
export function firstOf<T>(nodes: readonly T[], most: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const node of nodes) {
    const last = first[most - 1];
    if (last !== undefined && compare(last, node) < 0) continue;
    const place = first.findIndex((other) => compare(node, other) < 0);
    first.splice(place < 0 ? first.length : place, 0, node);
    first.length = Math.min(first.length, most);
  }
  return first;
}

/** The HOTTEST_LISTED nodes with the highest percent in the newest pass, highest first. */
export function hottestOf<T extends Used>(nodes: readonly T[]): T[] {
  return firstOf(nodes, HOTTEST_LISTED, byPercent);
}
