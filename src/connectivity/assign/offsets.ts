/**
 * Returns the offsets of peers in the ring of n nodes: the node at i probes the nodes at i + o (mod n) for each offset o.
 *
 * As all nodes use the same offsets, each node probes exactly k others and is probed by exactly k.
 *
 * | nodes | offsets |
 * |---|---|
 * | n <= k+1 | all: everyone probes everyone |
 * | k >= 4 | 1 and n-1 always; k-2 that rotate |
 * | k = 2, 3 | 1 always; the others rotate |
 * | k = 1 | one, which rotates |
 *
 * The fixed offsets are the neighbours on both sides. They give each node a watcher that does not change; when a node
 * joins, only its two neighbours get a new watcher. A node that is not alone in its zone has a neighbour of its zone.
 *
 * The others, m = n-1-f for f fixed offsets, are divided into r = k-f blocks of nearly equal size. Step t takes the t-th
 * offset of each block: all are used within ceil(m/r) steps. They lie about n/r apart, so that any row of 2n/r nodes has
 * a watcher of each node. A node is therefore watched from other zones if they have 2n/r nodes: with k = 10, a quarter.
 *
 * With n = 5,000 and k = 10: f = 2, r = 8, ceil(4,997/8) = 625 steps. In steps of 120 s these are 20 h 50 min.
 */
export function ringOffsets(n: number, k: number, step: number): number[] {
  if (n <= k + 1) return Array.from({ length: Math.max(0, n - 1) }, (_, i) => i + 1);
  const fixed = fixedOffsets(n, k);
  const rotating = k - fixed.length;
  // Without 0, 1 and, if it is fixed, n-1.
  const first = fixed.length === 0 ? 1 : 2;
  const count = n - 1 - fixed.length;
  return [
    ...fixed,
    ...Array.from({ length: rotating }, (_, block) => first + offsetOf({ block, rotating, count, step })),
  ];
}

/** The offsets that do not change with the step. */
export function fixedOffsets(n: number, k: number): number[] {
  if (k >= 4) return [1, n - 1];
  return k >= 2 ? [1] : [];
}

/** Steps after which every ordered pair was probed. */
export function stepsOfAllPairs(n: number, k: number): number {
  if (n <= k + 1) return 1;
  const fixed = fixedOffsets(n, k).length;
  return Math.ceil((n - 1 - fixed) / (k - fixed));
}

interface Block {
  readonly block: number;
  readonly rotating: number;
  /** Offsets of all blocks. */
  readonly count: number;
  readonly step: number;
}

/** The blocks differ in size by one at most: the shorter ones repeat their last offset in the last step. */
function offsetOf({ block, rotating, count, step }: Block): number {
  const start = Math.floor((block * count) / rotating);
  const end = Math.floor(((block + 1) * count) / rotating);
  return Math.min(start + (step % Math.ceil(count / rotating)), end - 1);
}
