/** A node in a ring of nodes that probe each other. */
export interface RingNode {
  readonly name: string;
  readonly zone?: string | undefined;
}

/**
 * The order of nodes in their ring: by zone, then by name. The nodes of a zone are neighbours, so that the offsets 1 and
 * n-1 stay in the zone, and larger ones leave it. Nodes without a zone form one.
 */
export function ringOf(nodes: readonly RingNode[]): string[] {
  const keyed = nodes.map(({ name, zone = '' }) => ({ name, zone }));
  keyed.sort((a, b) => compare(a.zone, b.zone) || compare(a.name, b.name));
  return keyed.map(({ name }) => name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

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

/** 625 steps cover all pairs of 5,000 nodes with 10 peers: see `ringOffsets`. In 24 h there are 720 of this length. */
const SHORTEST_STEP_MS = 120_000;

/**
 * Returns the rotation step at a time. It follows from the wall clock, so that a restarted server continues with the same
 * step; a jump of the clock changes only the order of the steps. A step takes at least two intervals, so that each peer is
 * probed at least once.
 *
 * @param now wall clock, ms
 */
export function rotationStep(now: number, intervalMs: number): number {
  return Math.max(0, Math.floor(now / Math.max(SHORTEST_STEP_MS, 2 * intervalMs)));
}

/** A ring of nodes that probe each other, as far as its size matters here. */
interface RingSize {
  readonly names: readonly string[];
  /** Peers of each node that its checks ask for. */
  readonly peers: number;
}

/**
 * Peers of each node in each ring, so that no node has more than `most` in all of its rings. All nodes of a ring have the
 * same number, or a node would be watched by fewer than it watches.
 *
 * A node in several rings divides `most` among them: rings that ask for less than an equal part get all of it, and the
 * others divide the rest. A ring gets the least of the parts that its nodes have for it. It is 0 only if a node is in
 * more than `most` rings.
 *
 * @returns in the order of the rings, each at most what the ring asks for and can use
 */
export function sharesOf(rings: readonly RingSize[], most: number): number[] {
  const desired = rings.map(({ names, peers }) => Math.min(peers, most, Math.max(0, names.length - 1)));
  const shares = [...desired];
  for (const own of ringsByNode(rings)) {
    const parts = equalParts(
      own.map((index) => desired[index] ?? 0),
      most,
    );
    for (const [at, index] of own.entries()) shares[index] = Math.min(shares[index] ?? 0, parts[at] ?? 0);
  }
  return shares;
}

/** The different combinations of rings that nodes are in, by index. Those with a single ring have nothing to divide. */
function ringsByNode(rings: readonly RingSize[]): number[][] {
  if (rings.length < 2) return [];
  const byNode = new Map<string, number[]>();
  for (const [index, { names }] of rings.entries()) {
    for (const name of names) {
      const known = byNode.get(name);
      if (known === undefined) byNode.set(name, [index]);
      else known.push(index);
    }
  }
  const combinations = new Map<string, number[]>();
  for (const own of byNode.values()) if (own.length > 1) combinations.set(own.join(), own);
  return [...combinations.values()];
}

/** Divides `most` fairly (max-min): the smallest wishes first, and what they leave goes to the others. */
function equalParts(desired: readonly number[], most: number): number[] {
  const parts = desired.map(() => 0);
  let [left, others] = [most, desired.length];
  for (const [index, wish] of [...desired.entries()].sort(([, a], [, b]) => a - b)) {
    const part = Math.min(wish, Math.floor(left / others));
    parts[index] = part;
    left -= part;
    others -= 1;
  }
  return parts;
}
