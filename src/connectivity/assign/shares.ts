/** A ring of nodes that probe each other, as far as its size matters here. */
export interface RingSize {
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
  const wanted = rings.map(({ names, peers }) => Math.min(peers, most, Math.max(0, names.length - 1)));
  const shares = [...wanted];
  for (const own of ringsByNode(rings)) {
    const parts = equalParts(
      own.map((index) => wanted[index] ?? 0),
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
function equalParts(wanted: readonly number[], most: number): number[] {
  const parts = wanted.map(() => 0);
  let [left, others] = [most, wanted.length];
  for (const [index, wish] of [...wanted.entries()].sort(([, a], [, b]) => a - b)) {
    const part = Math.min(wish, Math.floor(left / others));
    parts[index] = part;
    left -= part;
    others -= 1;
  }
  return parts;
}
