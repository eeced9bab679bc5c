import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { createPassFigures } from '../decide/passFigures.ts';
import type { NodeView, PassFigures, PassView } from './observation.ts';

/**
 * Hands out views of nodes and passes, whose figures all TrafficWatches share: after a pass each of them comes with the
 * same nodes and passes, and looking up ten thousand names is half of what each costs. One a process.
 *
 * Figures are kept of one view only, the one that was read last. A reconcile that waits for minutes while labels are
 * written holds its view, and of ten thousand nodes the figures are 1.7 MB: they are computed again when it reports.
 */
export class PassViews {
  #latest: PassView | undefined;
  #kept: { readonly view: PassView; readonly figures: PassFigures } | undefined;

  /** The view of these very lists: the same one as before while both are the same objects. */
  viewOf(nodes: readonly NodeView[], passes: readonly Snapshot[]): PassView {
    if (this.#latest?.nodes !== nodes || this.#latest.passes !== passes) this.#latest = this.#create(nodes, passes);
    return this.#latest;
  }

  #create(nodes: readonly NodeView[], passes: readonly Snapshot[]): PassView {
    const figuresOf = (view: PassView): PassFigures => this.#figuresOf(view);
    return {
      nodes,
      passes,
      get figures() {
        return figuresOf(this);
      },
    };
  }

  #figuresOf(view: PassView): PassFigures {
    if (this.#kept?.view !== view) this.#kept = { view, figures: createPassFigures(view) };
    return this.#kept.figures;
  }
}
