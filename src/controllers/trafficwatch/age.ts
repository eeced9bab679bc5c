/** The age of an object. */
export interface Age {
  readonly uid: string;
  /** In the form of Date.toISOString. */
  readonly creationTimestamp: string;
}

/**
 * Returns whether `a` is older than `b`; of the same age, whether its UID is smaller. Every replica gets the same result. The times have the form of
 * Date.toISOString, so they compare as text.
 */
export function isOlder(a: Age, b: Age): boolean {
  return a.creationTimestamp === b.creationTimestamp ? a.uid < b.uid : a.creationTimestamp < b.creationTimestamp;
}
