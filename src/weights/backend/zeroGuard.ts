import type { BackendWeights } from './backend.ts';

/** The row of a cluster in the table. */
export interface ClusterRow {
  readonly desired: number;
  /** Undefined until a weight is active. */
  readonly current: number | undefined;
  /** Whether the cluster goes to 0, or is at 0. */
  readonly isMarked: boolean;
  /** When the operator of the cluster last showed that it runs, seconds since 1970; undefined if it never did. */
  readonly seenAt: number | undefined;
}

/** A row without a sign of life for this time does not count, seconds: a cluster that was renamed, or is gone, leaves its row. */
export const ALIVE_S = 3_600;
/** An operator refreshes its sign of life after this time, seconds: 12 writes an hour. */
const REFRESH_S = 300;

/** Returns whether the own sign of life must be refreshed. @param now seconds since 1970 */
export function needsSign({ seenAt }: Pick<ClusterRow, 'seenAt'>, now: number): boolean {
  // A clock that was set back must not keep an old sign alive.
  return seenAt === undefined || Math.abs(now - seenAt) >= REFRESH_S;
}

/** The weights of this cluster by its row. */
export interface OwnRow {
  readonly weights: BackendWeights;
  /** The weight that the cluster has; 0 if it is not known. */
  readonly has: number;
  /** Whether the desired weight may be applied only if `mayGoToZero` resolves to true. */
  readonly mustAsk: boolean;
}

/** Returns whether a cluster certainly has traffic, so that a different cluster may go to 0. @param now seconds since 1970 */
export function hasTraffic(
  { current = 0, isMarked, seenAt = -Infinity }: Omit<ClusterRow, 'desired'>,
  now: number,
): boolean {
  return !isMarked && current > 0 && now - seenAt < ALIVE_S;
}

/**
 * Returns the weights of this cluster by its row. A cluster must ask before it goes from a weight above 0 to 0. If `known` is
 * undefined, the row shows the weight that the cluster has:
 *
 * | the row                          | `has`                       | `weights.current`  |
 * |----------------------------------|-----------------------------|--------------------|
 * | is not marked                    | the current weight, or 0    | the current weight |
 * | is marked, and 0 is desired      | 0: the change to 0 was allowed | the current weight |
 * | is marked, and more is desired   | 0                           | undefined, so that the desired weight is acknowledged, which removes the mark |
 *
 * @param known the last weight of the records; undefined if it is not known, as after a restart of `weights`
 */
export function ownRow(row: ClusterRow, known: number | undefined): OwnRow {
  const { desired, current, isMarked } = row;
  const has = known ?? (isMarked ? undefined : current) ?? 0;
  const told = isMarked && desired > 0 ? undefined : current;
  return { weights: { desired, current: told }, has, mustAsk: desired === 0 && has > 0 };
}

/** The operations on the rows of all clusters that a change to 0 needs. */
export interface ClusterRows {
  /** Resolves to the names of other clusters that have traffic; undefined without permission to read their rows. */
  withTraffic(signal: AbortSignal): Promise<readonly string[] | undefined>;
  /**
   * Marks the own row in one atomic step, if its desired weight is still 0 and `other` still has traffic. Resolves to whether
   * the row was marked.
   *
   * @param other undefined: do not check another cluster
   */
  markWithoutTraffic(other: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/**
 * Marks the own row if the cluster may go to 0, and resolves to whether it may. Route 53 treats weights that are all 0 as
 * equal: the last cluster would keep traffic, and the others would get some again.
 *
 * | the other clusters                     | allowAllZero | may go to 0 |
 * |----------------------------------------|--------------|-------------|
 * | one has traffic, and still has it when the own row is marked | any | yes |
 * | none has traffic                       | no           | no          |
 * | none has traffic                       | yes          | yes         |
 * | their rows may not be read             | any          | yes: unknown |
 *
 * The mark is set before the records change, and removed when a weight above 0 is active. So an unmarked cluster with a
 * current weight above 0 has traffic, and if two clusters go to 0 at the same time, the second finds the first marked.
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
