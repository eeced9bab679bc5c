import { Interner } from '../runtime/process/interner.ts';

/** Labels by position: `values[i]` belongs to `keys[i]`. Arrays take a sixth of the memory of an object of 25 labels. */
export interface LabelSet {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** How many sets are kept for sharing: node groups times zones, times instance types in autoscaled clusters. */
const MOST_SETS = 512;
/** How many values are kept for sharing. Sets that differ in a single label share the values of the others. */
const MOST_VALUES = 4096;
/** How many lists of keys are kept for sharing: few differ, because the same components label all nodes. */
const MOST_KEY_LISTS = 64;

/**
 * Keeps the labels of nodes in little memory: nodes with the same labels share one set, other sets share their keys and
 * values. 10,000 nodes with 25 labels take 0.1 MB if only the hostname differs within a node group; if another label is
 * different on each node, 3 MB.
 */
export class LabelSets {
  readonly #sets = new Interner<LabelSet>({ most: MOST_SETS, textOf });
  readonly #keys = new Interner<readonly string[]>({ most: MOST_KEY_LISTS, textOf: (keys) => keys.join(' ') });
  readonly #values = new Interner<string>({ most: MOST_VALUES, textOf: String });

  /** @param isKept whether the label of this key is part of the set */
  of(labels: Labels, isKept: (key: string) => boolean): LabelSet {
    const keys = Object.keys(labels).filter(isKept);
    const set = { keys: keys as readonly string[], values: keys.map((key) => labels[key] ?? '') };
    const known = this.#sets.share(set);
    if (known !== set) return known;
    // Only now, because most nodes have a known set.
    set.keys = this.#keys.share(keys);
    set.values = set.values.map((value) => this.#values.share(value));
    return set;
  }
}

/** Keys and values of labels contain neither spaces nor line breaks. This is a third of the time of JSON. */
function textOf({ keys, values }: LabelSet): string {
  return `${keys.join(' ')}\n${values.join('\n')}`;
}

/** The value of a label; undefined if the set does not contain it. */
export function valueIn({ keys, values }: LabelSet, key: string): string | undefined {
  const place = keys.indexOf(key);
  return place < 0 ? undefined : values[place];
}
