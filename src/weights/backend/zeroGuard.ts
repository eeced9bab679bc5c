/**
 * The rows of all clusters, as far as the way to 0 needs them. A cluster has traffic if its row is not marked and its current
 * weight is above 0.
 */
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
