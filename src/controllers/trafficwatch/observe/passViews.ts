import { DEFAULT_KEY, DEFAULT_READING, readingKey, type Reading } from '../../../usage/evaluate/reading.ts';
import { asRead, type Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { createPassFigures } from '../decide/passFigures.ts';
import type { NodeView, PassFigures, PassView } from './observation.ts';

/** What a view shows: all views of a generation have the same nodes and passes, each its own reading. */
interface Generation {
  readonly nodes: readonly NodeView[];
  readonly passes: readonly Snapshot[];
  /** By the key of the reading. */
  readonly views: Map<string, PassView>;
}

interface Kept {
  readonly view: PassView;
  readonly figures: PassFigures;
}

/**
 * Hands out views of nodes and passes, whose figures all TrafficWatches of one reading share: after a pass each of them
 * comes with the same nodes and passes, and looking up ten thousand names is half of what each costs. One a process.
 *
 * Figures are kept of one view of each reading only, the one that was read last. A reconcile that waits for minutes
 * while labels are written holds its view, and of ten thousand nodes the figures are 1.7 MB: they are computed again
 * when it reports. Figures of a reading that no TrafficWatch asks for any more are dropped with the second list of
 * nodes or passes after that.
 */
export class PassViews {
  #latest: Generation | undefined;
  /** By the key of the reading. */
  readonly #kept = new Map<string, Kept>();
  /** Passes as readings show them: a pass is in the lists of several generations. */
  readonly #read = new WeakMap<Snapshot, Map<string, Snapshot>>();

  /** The view of these very lists, by the reading: the same one as before while both are the same objects. */
  viewOf(nodes: readonly NodeView[], passes: readonly Snapshot[], reading: Reading = DEFAULT_READING): PassView {
    const key = readingKey(reading);
    const { views } = this.#generationOf(nodes, passes);
    let view = views.get(key);
    if (view === undefined) views.set(key, (view = this.#create(nodes, this.#asRead(passes, key), key)));
    return view;
  }

  #generationOf(nodes: readonly NodeView[], passes: readonly Snapshot[]): Generation {
    const before = this.#latest;
    if (before?.nodes === nodes && before.passes === passes) return before;
    for (const key of this.#kept.keys()) if (before?.views.has(key) === false) this.#kept.delete(key);
    return (this.#latest = { nodes, passes, views: new Map() });
  }

  #asRead(passes: readonly Snapshot[], key: string): readonly Snapshot[] {
    if (key === DEFAULT_KEY) return passes;
    return passes.map((pass) => {
      let read = this.#read.get(pass);
      if (read === undefined) this.#read.set(pass, (read = new Map<string, Snapshot>()));
      let shown = read.get(key);
      if (shown === undefined) read.set(key, (shown = asRead(pass, key)));
      return shown;
    });
  }

  #create(nodes: readonly NodeView[], passes: readonly Snapshot[], key: string): PassView {
    const figuresOf = (view: PassView): PassFigures => this.#figuresOf(view, key);
    return {
      nodes,
      passes,
      get figures() {
        return figuresOf(this);
      },
    };
  }

  #figuresOf(view: PassView, key: string): PassFigures {
    let kept = this.#kept.get(key);
    if (kept?.view !== view) this.#kept.set(key, (kept = { view, figures: createPassFigures(view) }));
    return kept.figures;
  }
}
