import type { LabelSelector } from '../../../nodes/labelSelector.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { createPassFigures } from '../decide/passFigures.ts';
import { selectNodes } from '../decide/selection.ts';
import type { NodeView, PassFigures, PassView } from './observation.ts';

/** How many selectors share views and figures. With more, some figures are computed more than once in a pass. */
const MOST_SELECTORS = 16;

/** The text of a selector, by which TrafficWatches share. Those without one share as well. */
const ALL = '';

/**
 * Hands out views of nodes and passes, whose figures all TrafficWatches with the same selector share: after a pass each
 * of them comes with the same nodes and passes, and looking up ten thousand names is half of what each costs. One a
 * process.
 *
 * Figures are kept of one view only of each selector, the one that was read last, and only of the newest passes. A
 * reconcile that waits for minutes while labels are written holds its view, and of ten thousand nodes the figures are
 * 1.7 MB: they are computed again when it reports.
 */
export class PassViews {
  #nodes: readonly NodeView[] | undefined;
  #passes: readonly Snapshot[] | undefined;
  /** The views of these nodes and passes, by selector. */
  readonly #views = new Map<string, PassView>();
  readonly #kept = new Map<string, { readonly view: PassView; readonly figures: PassFigures }>();

  /**
   * The view of these very lists: the same one as before while both are the same objects.
   * @param selector undefined for all nodes
   */
  viewOf(nodes: readonly NodeView[], passes: readonly Snapshot[], selector?: LabelSelector): PassView {
    if (this.#nodes !== nodes || this.#passes !== passes) this.#views.clear();
    [this.#nodes, this.#passes] = [nodes, passes];
    const text = selector === undefined ? ALL : JSON.stringify(selector);
    const known = this.#views.get(text);
    if (known !== undefined) return known;
    const view = this.#create(nodes, passes, selector, text);
    keep(this.#views, text, view);
    return view;
  }

  #create(
    nodes: readonly NodeView[],
    passes: readonly Snapshot[],
    selector: LabelSelector | undefined,
    text: string,
  ): PassView {
    const figuresOf = (view: PassView): PassFigures => this.#figuresOf(view, text);
    return {
      ...selectNodes(nodes, selector),
      passes,
      get figures() {
        return figuresOf(this);
      },
    };
  }

  #figuresOf(view: PassView, text: string): PassFigures {
    const known = this.#kept.get(text);
    if (known?.view === view) return known.figures;
    for (const [other, kept] of this.#kept) if (kept.view.passes !== view.passes) this.#kept.delete(other);
    const figures = createPassFigures(view);
    keep(this.#kept, text, { view, figures });
    return figures;
  }
}

/** Adds an entry. Drops the oldest one if there are too many. */
function keep<V>(map: Map<string, V>, text: string, value: V): void {
  const [oldest] = map.keys();
  if (map.size >= MOST_SELECTORS && oldest !== undefined && !map.has(text)) map.delete(oldest);
  map.set(text, value);
}
