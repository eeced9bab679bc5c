import { createTakingOff } from './nodeLabels.ts';
import type { LabelChange, LabelChanges } from '../../model/label.ts';

/** A Node with the label keys that this operator wrote, for the sweep of orphaned labels. */
export interface SweptNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownedKeys: readonly string[];
}

/** Keys of the labels on a Node that the operator owns and no TrafficWatch claims. */
export function orphanedKeys(
  { labels, ownedKeys }: Pick<SweptNode, 'labels' | 'ownedKeys'>,
  isClaimed: (key: string) => boolean,
): string[] {
  return ownedKeys.filter((key) => labels[key] !== undefined && !isClaimed(key));
}

/**
 * Removes labels that no TrafficWatch claims. They are left when somebody removes the finalizer of a deleted
 * TrafficWatch by force, or when spec.label changes twice in a row. Only keys that our field manager owns are removed;
 * labels that a person wrote stay.
 *
 * @param claimed every label key in the spec or status of a TrafficWatch, including those that are being deleted: they
 * remove their labels themselves.
 */
export function decideOrphans(nodes: readonly SweptNode[], claimed: ReadonlySet<string>): LabelChanges {
  const changes = new Map<string, LabelChange>();
  const takeOff = createTakingOff();
  const isClaimed = (key: string): boolean => claimed.has(key);
  // Consecutive nodes often share one list object. With fifty TrafficWatches it has fifty keys: check each list once.
  let allClaimed: readonly string[] | undefined;
  for (const node of nodes) {
    if (node.ownedKeys === allClaimed) continue;
    // The usual case, after each pass: allocate nothing.
    if (node.ownedKeys.every(isClaimed)) {
      allClaimed = node.ownedKeys;
      continue;
    }
    const orphaned = orphanedKeys(node, isClaimed);
    if (orphaned.length > 0) changes.set(node.name, takeOff(orphaned));
  }
  return changes;
}
