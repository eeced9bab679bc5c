import { createTakingOff, type LabelChange, type LabelChanges } from './nodeLabels.ts';

/** A Node as the sweep sees it: the label keys on it that this operator wrote. */
export interface SweptNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownedKeys: readonly string[];
}

/** Keys of the labels on a Node that are ours and that nobody claims. */
export function orphanedKeys(
  { labels, ownedKeys }: Pick<SweptNode, 'labels' | 'ownedKeys'>,
  isClaimed: (key: string) => boolean,
): string[] {
  return ownedKeys.filter((key) => labels[key] !== undefined && !isClaimed(key));
}

/**
 * Labels that no TrafficWatch answers for any more: one that was deleted with its finalizer forced off, or the middle
 * key of two renames in a row. Only keys that our field manager owns are taken off; a person's own label stays.
 *
 * @param claimed every label key that a TrafficWatch names in its spec or status, deleted ones included: those take
 * their labels off themselves.
 */
export function decideOrphans(nodes: readonly SweptNode[], claimed: ReadonlySet<string>): LabelChanges {
  const changes = new Map<string, LabelChange>();
  const takeOff = createTakingOff();
  const isClaimed = (key: string): boolean => claimed.has(key);
  // Neighbours often share one list of keys, and fifty TrafficWatches are fifty keys on each node.
  let allClaimed: readonly string[] | undefined;
  for (const node of nodes) {
    if (node.ownedKeys === allClaimed) continue;
    // Mostly all of them, after each pass: nothing is made of such a node.
    if (node.ownedKeys.every(isClaimed)) {
      allClaimed = node.ownedKeys;
      continue;
    }
    const orphaned = orphanedKeys(node, isClaimed);
    if (orphaned.length > 0) changes.set(node.name, takeOff(orphaned));
  }
  return changes;
}
