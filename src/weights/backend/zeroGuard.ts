import type { BackendWeights } from './backend.ts';

/** The row of a cluster, as it was read. */
export interface ClusterRow {
  readonly desired: number;
  /** Undefined until a weight is in force. */
  readonly current: number | undefined;
  /** Whether the cluster goes to 0, or is there. */
  readonly isMarked: boolean;
}

/** What the own row means. */
export interface OwnRow {
  readonly weights: BackendWeights;
  /** The weight that the cluster has, as far as it is known; else 0. */
  readonly has: number;
  /** Whether the desired weight may be followed only if `mayGoToZero`. */
  readonly mustAsk: boolean;
}

/** Whether a cluster has traffic for certain, so that another one may go to 0. */
export function hasTraffic({ current = 0, isMarked }: Omit<ClusterRow, 'desired'>): boolean {
  return !isMarked && current > 0;
}

/**
 * What the own row means. A cluster must ask before it goes from a weight above 0 to 0. Without a known weight, the row tells what it has:
 *
 * | the row                       | it has                       | current weight that is told |
 * |-------------------------------|------------------------------|-----------------------------|
 * | is not marked                 | the current weight, or 0     | that of the row             |
 * | is marked, and 0 is desired   | 0: its way to 0 was allowed  | that of the row             |
 * | is marked, and more is desired | 0                           | none: the next acknowledgement removes the mark, and a current weight would make it needless |
 *
 * @param known the weight that the records were given last; undefined if nobody knows, as after a start of `weights`
 */
export function ownRow(row: ClusterRow, known: number | undefined): OwnRow {
  const { desired, current, isMarked } = row;
  const has = known ?? (isMarked ? undefined : current) ?? 0;
  const told = isMarked && desired > 0 ? undefined : current;
  return { weights: { desired, current: told }, has, mustAsk: desired === 0 && has > 0 };
}

/** The rows of all clusters, as far as the way to 0 needs them. */
export interface ClusterRows {
  /** Names of other clusters that have traffic; undefined if their rows may not be read. */
  withTraffic(signal: AbortSignal): Promise<readonly string[] | undefined>;
  /**
   * Marks the own row in one atomic step, if 0 is still desired there and `other` still has traffic. Resolves to whether it was
   * marked.
   *
   * @param other undefined: whatever the others have
   */
  markWithoutTraffic(other: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/**
 * Whether a cluster may go to 0. Route 53 treats weights that are all 0 as equal, so that the last cluster would not lose its
 * traffic, and the others would get some again.
 *
 * | the other clusters                     | allowAllZero | may go to 0 |
 * |----------------------------------------|--------------|-------------|
 * | one has traffic, and still has it when the own row is marked | any | yes |
 * | none has traffic                       | no           | no          |
 * | none has traffic                       | yes          | yes         |
 * | their rows may not be read             | any          | yes: unknown |
 *
 * The mark is set before the records change, and removed when a weight above 0 is in force. So a cluster without a mark has
 * records above 0, and of two clusters that go to 0 at the same time, the second finds the first one marked.
 */
export async function mayGoToZero(rows: ClusterRows, allowAllZero: boolean, signal: AbortSignal): Promise<boolean> {
  if (allowAllZero) return rows.markWithoutTraffic(undefined, signal);
  const others = await rows.withTraffic(signal);
  if (others === undefined) return rows.markWithoutTraffic(undefined, signal);
  for (const other of others) {
    if (await rows.markWithoutTraffic(other, signal)) return true;
  }
  return false;
}
