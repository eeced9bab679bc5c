/** What the age of an object is compared by. */
export interface Aged {
  /** RFC 3339. */
  readonly createdAt: string;
  /** Decides between objects of the same age. */
  readonly name: string;
}

/** Compares for a sort: the older one first, then by name. */
export function byAge(a: Aged, b: Aged): number {
  return compare(a.createdAt, b.createdAt) || compare(a.name, b.name);
}

/** The time of metadata.creationTimestamp: the type says Date, the API server's JSON has a text. */
export function createdAt(time: Date | string | undefined): string {
  return time instanceof Date ? time.toISOString() : (time ?? '');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
