/** What is known of a node. */
interface Visit {
  /** In the order of the visits. */
  readonly order: number;
  /** The earliest node that is reached from it and is not in a complete cycle. */
  lowest: number;
  /** The same number for all nodes of one cycle. Undefined while it is not complete. */
  cycle: number | undefined;
}

/**
 * The cycles of a directed graph: its strongly connected components, by the algorithm of Tarjan. Each edge is followed once, whatever is
 * asked: a stack may have 200 components and 2,000 dependencies, and is looked at with each event.
 */
export class Cycles<Node> {
  readonly #after: (node: Node) => readonly Node[];
  readonly #visits = new Map<Node, Visit>();
  /** Visited nodes whose cycle is not complete. */
  readonly #open: Node[] = [];

  constructor(after: (node: Node) => readonly Node[]) {
    this.#after = after;
  }

  /** A number that two nodes have in common if each is reached from the other one, and only then. */
  of(node: Node): number | undefined {
    return (this.#visits.get(node) ?? this.#visit(node)).cycle;
  }

  #visit(node: Node): Visit {
    const order = this.#visits.size;
    const visit: Visit = { order, lowest: order, cycle: undefined };
    this.#visits.set(node, visit);
    const depth = this.#open.push(node) - 1;
    for (const next of this.#after(node)) {
      const seen = this.#visits.get(next);
      if (seen === undefined) visit.lowest = Math.min(visit.lowest, this.#visit(next).lowest);
      else if (seen.cycle === undefined) visit.lowest = Math.min(visit.lowest, seen.order);
    }
    if (visit.lowest === order) this.#complete(depth, order);
    return visit;
  }

  #complete(depth: number, cycle: number): void {
    for (const node of this.#open.splice(depth)) {
      const visit = this.#visits.get(node);
      if (visit !== undefined) visit.cycle = cycle;
    }
  }
}
