import { createLabelMatcher, type LabelMatcher } from '../../../api/labelMatcher.ts';
import { nodeSelectorOf } from '../../../api/trafficwatch/spec/nodeSelector.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { labelOf, type CachedNode } from '../../../nodes/cachedNode.ts';

/** The selectors of all TrafficWatches, to find out which label changes of a Node matter to any of them. */
export class SelectorsInUse {
  readonly #watches: () => readonly TrafficWatch[];
  /** Undefined until they are needed: at the start, each TrafficWatch is an event. */
  #matchers: readonly LabelMatcher[] | undefined;

  /** @param watches returns all TrafficWatches */
  constructor(watches: () => readonly TrafficWatch[]) {
    this.#watches = watches;
  }

  /** Call when a TrafficWatch is added, deleted, or has another spec. */
  changed(): void {
    this.#matchers = undefined;
  }

  /** Whether a Node enters or leaves the selection of any TrafficWatch between these two states. */
  differ(one: CachedNode, other: CachedNode): boolean {
    if (one.otherLabels === other.otherLabels && one.hostname === other.hostname) return false;
    this.#matchers ??= matchersOf(this.#watches());
    return this.#matchers.some(
      (matches) => matches((key) => labelOf(one, key)) !== matches((key) => labelOf(other, key)),
    );
  }
}

function matchersOf(watches: readonly TrafficWatch[]): LabelMatcher[] {
  const selectors = watches.map(({ spec }) => nodeSelectorOf(spec)).filter((selector) => selector !== undefined);
  const distinct = new Map(selectors.map((selector) => [JSON.stringify(selector), selector]));
  return [...distinct.values()].map(createLabelMatcher);
}
