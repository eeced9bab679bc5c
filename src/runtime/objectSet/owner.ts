import { APPLIED_HASH_ANNOTATION } from '../apply/appliedHash.ts';
import type { KubeObject } from '../client/resource.ts';

/** The labels that mark the objects of a set. */
export interface Owner {
  /** Labels that every object of the set has. */
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Keys of `labels` that distinguish sets of this operator: an object with another value under such a key belongs to another
   * set.
   */
  readonly distinguishing?: readonly string[];
}

/**
 * Returns whether this operator made the object for the set:
 *
 * | the object                                                          | ours |
 * | ------------------------------------------------------------------- | ---- |
 * | is controlled by an owner that `desired` does not name as controller | no   |
 * | has another value under a distinguishing label                      | no   |
 * | has all labels of the owner                                         | yes  |
 * | lacks labels, but has the annotation of our apply (drift)           | yes  |
 * | anything else                                                       | no   |
 *
 * @param desired the desired object of the set
 */
export function isOwnedBy(
  { labels: marks, distinguishing = [] }: Owner,
  live: KubeObject,
  desired?: KubeObject,
): boolean {
  const { labels = {}, annotations = {} } = live.metadata ?? {};
  const expected = controllersOf(desired);
  if (controllersOf(live).some((uid) => !expected.includes(uid))) return false;
  if (distinguishing.some((key) => labels[key] !== undefined && labels[key] !== marks[key])) return false;
  return isMarked(live, marks) || annotations[APPLIED_HASH_ANNOTATION] !== undefined;
}

/** Returns whether the object has all of these labels. */
export function isMarked(object: KubeObject, marks: Owner['labels']): boolean {
  return Object.entries(marks).every(([key, value]) => object.metadata?.labels?.[key] === value);
}

function controllersOf(object: KubeObject | undefined): string[] {
  const owners = object?.metadata?.ownerReferences ?? [];
  return owners.filter(({ controller }) => controller === true).map(({ uid }) => uid);
}
