/** The fields by which objects are compared for their age. */
export interface Aged {
  /** RFC 3339. */
  readonly createdAt: string;
  /** Decides between objects of the same age. */
  readonly name: string;
}

/** Compares for a sort: the older object first, then by name. */
export function byAge(a: Aged, b: Aged): number {
  return compare(a.createdAt, b.createdAt) || compare(a.name, b.name);
}

/** Returns metadata.creationTimestamp as text. Its type says Date, but the JSON of the API server has a text. */
export function createdAt(time: Date | string | undefined): string {
  return time instanceof Date ? time.toISOString() : (time ?? '');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
