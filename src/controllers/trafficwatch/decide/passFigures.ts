import { describeDrop } from '../../../usage/evaluate/capacityDrop.ts';
import type { CapacitySource } from '../../../usage/evaluate/percent.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { MeasuredNode, NodeView, PassFigures, PassView } from '../observe/observation.ts';
import { hottestOf } from './report/statusNodes.ts';

type Seen = Pick<PassView, 'nodes' | 'passes'> & Partial<Pick<PassView, 'outside'>>;

/** The figures of these nodes and passes. Pure: each value is computed when it is read first, and then kept. */
export function createPassFigures(seen: Seen): PassFigures {
  return new LazyFigures(seen);
}

class LazyFigures implements PassFigures {
  readonly #nodes: readonly NodeView[];
  readonly #passes: readonly Snapshot[];
  readonly #areAll: boolean;
  #measured: readonly MeasuredNode[] | undefined;
  #places: ReadonlyMap<string, number> | undefined;
  #passesWithData: number | undefined;
  #unmeasured: readonly NodeView[] | undefined;
  #capacityDrops: readonly string[] | undefined;
  #capacitySources: ReadonlyMap<CapacitySource, number> | undefined;
  #withoutDrivers: readonly string[] | undefined;
  #hottest: readonly MeasuredNode[] | undefined;

  constructor({ nodes, passes, outside = [] }: Seen) {
    this.#nodes = nodes;
    this.#passes = passes;
    this.#areAll = outside.length === 0;
  }

  get measured(): readonly MeasuredNode[] {
    return (this.#measured ??= this.#nodes.map((node, place) => ({
      node,
      place,
      passes: this.#passes.map((pass) => pass.nodes.get(node.name)),
    })));
  }

  get places(): ReadonlyMap<string, number> {
    return (this.#places ??= new Map(this.#nodes.map(({ name }, place) => [name, place])));
  }

  get passesWithData(): number {
    // A node that has just been deleted still counts, unless a selector says which nodes count.
    const nodes = this.#areAll ? undefined : this.#nodes;
    return (this.#passesWithData ??= passesWithData(this.#passes, nodes));
  }

  get unmeasured(): readonly NodeView[] {
    return (this.#unmeasured ??= this.measured.flatMap(({ node, passes }) =>
      passes[0]?.percent === undefined ? [node] : [],
    ));
  }

  get capacityDrops(): readonly string[] {
    return (this.#capacityDrops ??= capacityDrops(this.measured));
  }

  get capacitySources(): ReadonlyMap<CapacitySource, number> {
    return (this.#capacitySources ??= capacitySources(this.measured));
  }

  get withoutDrivers(): readonly string[] {
    return (this.#withoutDrivers ??= this.measured
      .flatMap(({ node, passes }) => (passes[0]?.lacksDrivers ? [node.name] : []))
      .sort());
  }

  get hottest(): readonly MeasuredNode[] {
    return (this.#hottest ??= hottestOf(this.measured));
  }
}

/** @param selected the nodes whose figures count; undefined: all nodes of the pass */
function passesWithData(passes: readonly Snapshot[], selected: readonly NodeView[] | undefined): number {
  const without = passes.findIndex((pass) => !hasFigure(pass, selected));
  return without < 0 ? passes.length : without;
}

/** Whether the pass succeeded and has a figure of any node, or of any of the selected nodes. */
export function hasFigure({ ok, nodes }: Snapshot, selected?: readonly NodeView[]): boolean {
  if (!ok) return false;
  if (selected !== undefined) return selected.some(({ name }) => nodes.get(name)?.percent !== undefined);
  for (const { percent } of nodes.values()) if (percent !== undefined) return true;
  return false;
}

function capacitySources(nodes: readonly MeasuredNode[]): Map<CapacitySource, number> {
  const counts = new Map<CapacitySource, number>();
  for (const { passes } of nodes) {
    const source = passes[0]?.capacitySource;
    if (source !== undefined) counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return counts;
}

function capacityDrops(nodes: readonly MeasuredNode[]): string[] {
  const found: string[] = [];
  for (const { node, passes } of nodes) {
    const drop = passes[0] && describeDrop(passes[0]);
    if (drop !== undefined) found.push(`${node.name}: ${drop}`);
  }
  return found.sort();
}
