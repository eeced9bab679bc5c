import type { LabelSelector } from '../../../api/labelSelector.ts';
import {
  DEFAULT_KEY,
  DEFAULT_READING,
  LEAST_PASSES,
  readingKey,
  type Reading,
} from '../../../usage/evaluate/reading.ts';
import { asRead, unreadOf, type Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { NodeView, PassFigures, PassView, MeasuredNode } from './observation.ts';
import { describeDrop } from '../../../usage/evaluate/capacityDrop.ts';
import type { CapacitySource, NodeUsage } from '../../../usage/evaluate/percent.ts';
import { hottestOf } from '../model/hottest.ts';
import { createLabelMatcher } from '../../../api/labelMatcher.ts';
import { labelOf } from '../../../nodes/cachedNode.ts';

/** How many views with a selector are kept. With more, some figures are computed more than once in a pass. */
const MOST_SELECTIONS = 16;

/** The reading and the nodes of a view. */
interface Look {
  /** Default: DEFAULT_READING. */
  readonly reading?: Reading | undefined;
  /** Default: all nodes. */
  readonly selector?: LabelSelector | undefined;
}

/** The source of views: all views of a generation come from the same nodes and passes. */
interface Generation {
  readonly nodes: readonly NodeView[];
  readonly passes: readonly Snapshot[];
  readonly views: ViewMap<PassView>;
}

interface Kept {
  readonly view: PassView;
  readonly figures: PassFigures;
}

/**
 * Hands out views of nodes and passes, whose figures all TrafficWatches of the same reading and selector share: after a
 * pass each of them comes with the same nodes and passes, and looking up ten thousand names is half of what each costs.
 * One a process.
 *
 * Figures are kept of one view only of each reading and selector, the one that was read last. A reconcile that waits for
 * minutes while labels are written holds its view, and of ten thousand nodes the figures are 1.7 MB: they are computed
 * again when it reports. Figures of a reading and selector that no TrafficWatch uses are dropped with the second list of
 * nodes or passes after that.
 *
 * | view            | how many are kept                                  |
 * |-----------------|----------------------------------------------------|
 * | of all nodes    | one for each reading in use                        |
 * | with a selector | MOST_SELECTIONS, of whatever reading: the newest   |
 */
export class PassViews {
  #latest: Generation | undefined;
  readonly #kept = new ViewMap<Kept>();
  /** Passes as readings show them: a pass is in the lists of several generations. */
  readonly #read = new WeakMap<Snapshot, Map<string, Snapshot>>();

  /** The view of these very lists: the same one as before while both are the same objects and the look is equal. */
  viewOf(nodes: readonly NodeView[], passes: readonly Snapshot[], look: Look = {}): PassView {
    const { reading = DEFAULT_READING, selector } = look;
    const key: ViewKey = {
      reading: readingKey(reading),
      selector: selector === undefined ? undefined : JSON.stringify(selector),
    };
    const { views } = this.#generationOf(nodes, passes);
    let view = views.get(key);
    if (view === undefined) {
      view = this.#create(nodes, this.#asRead(passes, key.reading), { key, selector });
      views.set(key, view);
    }
    return view;
  }

  #generationOf(nodes: readonly NodeView[], passes: readonly Snapshot[]): Generation {
    const before = this.#latest;
    if (before?.nodes === nodes && before.passes === passes) return before;
    if (before !== undefined) this.#kept.dropAllBut(before.views);
    return (this.#latest = { nodes, passes, views: new ViewMap() });
  }

  #asRead(passes: readonly Snapshot[], key: string): readonly Snapshot[] {
    if (key === DEFAULT_KEY) return passes;
    return passes.slice(0, lengthWithout(passes, key)).map((pass) => {
      let read = this.#read.get(pass);
      if (read === undefined) this.#read.set(pass, (read = new Map<string, Snapshot>()));
      // All readings that a pass lacks look alike, and its nodes may be many.
      const look = unreadOf(pass, key) ?? key;
      let shown = read.get(look);
      if (shown === undefined) read.set(look, (shown = asRead(pass, key)));
      return shown;
    });
  }

  #create(
    nodes: readonly NodeView[],
    passes: readonly Snapshot[],
    { key, selector }: { readonly key: ViewKey; readonly selector: LabelSelector | undefined },
  ): PassView {
    const figuresOf = (view: PassView): PassFigures => this.#figuresOf(view, key);
    return {
      ...selectNodes(nodes, selector),
      passes,
      get figures() {
        return figuresOf(this);
      },
    };
  }

  #figuresOf(view: PassView, key: ViewKey): PassFigures {
    let kept = this.#kept.get(key);
    if (kept?.view !== view) this.#kept.set(key, (kept = { view, figures: createPassFigures(view) }));
    return kept.figures;
  }
}

/**
 * The number of passes without the oldest ones that have no figures of a reading: the feed keeps as many of each reading as
 * are needed. Two passes are shown in any case.
 */
function lengthWithout(passes: readonly Snapshot[], key: string): number {
  const withFigures = passes.findLastIndex(({ ok, readings }) => ok && readings?.has(key) === true);
  return Math.max(withFigures + 1, LEAST_PASSES);
}

/** By which TrafficWatches share views. */
interface ViewKey {
  /** The key of the reading. */
  readonly reading: string;
  /** The text of the selector; undefined: all nodes. */
  readonly selector: string | undefined;
}

/** Values by ViewKey. Drops the oldest one of those with a selector if there are too many. */
class ViewMap<V> {
  readonly #ofAll = new Map<string, V>();
  readonly #selected = new Map<string, V>();

  get(key: ViewKey): V | undefined {
    return key.selector === undefined ? this.#ofAll.get(key.reading) : this.#selected.get(textOf(key));
  }

  set(key: ViewKey, value: V): void {
    if (key.selector === undefined) {
      this.#ofAll.set(key.reading, value);
      return;
    }
    const text = textOf(key);
    const [oldest] = this.#selected.keys();
    const isFull = this.#selected.size >= MOST_SELECTIONS && !this.#selected.has(text);
    if (isFull && oldest !== undefined) this.#selected.delete(oldest);
    this.#selected.set(text, value);
  }

  /** Drops the values of keys that another map does not have. */
  dropAllBut(other: ViewMap<unknown>): void {
    for (const key of this.#ofAll.keys()) if (!other.#ofAll.has(key)) this.#ofAll.delete(key);
    for (const key of this.#selected.keys()) if (!other.#selected.has(key)) this.#selected.delete(key);
  }
}

/** Both parts are JSON: neither contains a line break. */
function textOf({ reading, selector = '' }: ViewKey): string {
  return `${reading}\n${selector}`;
}

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
  #late: readonly string[] | undefined;
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
    return (this.#withoutDrivers ??= this.#namesOf(({ lacksDrivers }) => lacksDrivers === true));
  }

  get late(): readonly string[] {
    const lateNodes = this.#passes[0]?.lateNodes;
    return (this.#late ??= this.#namesOf(
      ({ node, percent }) => percent !== undefined && lateNodes?.has(node) === true,
    ));
  }

  get hottest(): readonly MeasuredNode[] {
    return (this.#hottest ??= hottestOf(this.measured));
  }

  #namesOf(isOne: (newest: NodeUsage) => boolean): readonly string[] {
    return this.measured.flatMap(({ node, passes: [newest] }) => (newest && isOne(newest) ? [node.name] : [])).sort();
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

const NONE_OUTSIDE: readonly NodeView[] = [];

/** Divides the nodes by a selector, in their order. Without a selector all nodes are judged: the list itself. */
export function selectNodes(
  nodes: readonly NodeView[],
  selector: LabelSelector | undefined,
): Pick<PassView, 'nodes' | 'outside'> {
  if (selector === undefined) return { nodes, outside: NONE_OUTSIDE };
  const matches = createLabelMatcher(selector);
  const selected: NodeView[] = [];
  const outside: NodeView[] = [];
  for (const node of nodes) (matches((key) => labelOf(node, key)) ? selected : outside).push(node);
  return { nodes: selected, outside };
}
