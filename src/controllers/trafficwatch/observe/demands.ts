import { createLabelMatcher, type LabelMatcher } from '../../../api/labelMatcher.ts';
import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import { nodeSelectorOf } from '../../../api/trafficwatch/spec/nodeSelector.ts';
import { missingDataOf, minHoldOf } from '../../../api/trafficwatch/spec/verdict.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY, type Reading, type Readings } from '../../../usage/evaluate/reading.ts';
import type { PassDemand } from '../../../usage/pass/history.ts';
import { readingNeedOf, type NodeLookup } from './reading/readingOf.ts';
import { labelKeysOf } from '../model/labelKeys.ts';

/** Characters of `false`, the longest value of a label. */
const LONGEST_VALUE = 5;

/**
 * Collects the demand of all TrafficWatches on the passes and the caches. A change of one TrafficWatch costs the same however
 * many there are: only its own share is added and removed. Specs may be invalid: another CRD may have let them through.
 */
export class Demands implements PassDemand {
  readonly #nodeOf: NodeLookup;
  /** By the key of the TrafficWatch: how to take its share away. */
  readonly #shares = new Map<string, () => void>();
  readonly #readings = new Tally<Reading>();
  readonly #missing = new Tally<true>();
  readonly #depths = new Depths();
  readonly #holds = new Tally<true>();
  readonly #selectors = new Tally<LabelMatcher>();
  readonly #labelKeys = new Tally<number>();

  /** @param nodeOf looks up the labels of a Node, for `spec.capacity` */
  constructor(nodeOf: NodeLookup) {
    this.#nodeOf = nodeOf;
  }

  /**
   * Sets the demand of a TrafficWatch.
   * @param key namespace/name
   * @param watch undefined if the TrafficWatch needs nothing
   */
  set(key: string, watch: TrafficWatch | undefined): void {
    const takeAway = this.#shares.get(key);
    // Add the new share first: a reading in both shares stays the same object.
    if (watch === undefined) this.#shares.delete(key);
    else this.#shares.set(key, this.#add(watch));
    takeAway?.();
  }

  /** Returns the number of passes that a reading, by its key, is needed for. 0 if no TrafficWatch needs the reading. */
  passesOf(key: string): number {
    return this.#depths.of(key);
  }

  /** The readings in use besides the default one, by their keys. The same map until they change. */
  get readings(): Readings {
    return this.#readings.values;
  }

  /** The keys of the readings for which a TrafficWatch needs to know since when nodes have no figure. */
  get missing(): Iterable<string> {
    return this.#missing.values.keys();
  }

  /** Whether any TrafficWatch has minHold. */
  get holds(): boolean {
    return this.#holds.values.size > 0;
  }

  /** The selectors for nodes in use. */
  get selectors(): Iterable<LabelMatcher> {
    return this.#selectors.values.values();
  }

  /** Bytes of the labels, keys and values, that the operator may write on each Node. */
  get labelBytes(): number {
    return [...this.#labelKeys.values.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  #add(watch: TrafficWatch): () => void {
    const { spec } = watch;
    const { spec: labelKey } = labelKeysOf(watch);
    const { reading, key, passes } = readingNeedOf({ spec }, this.#nodeOf);
    const selector = nodeSelectorOf(spec);
    const removals = [
      ...(labelKey === undefined || modeOf(spec) === 'Observe'
        ? []
        : [this.#labelKeys.add(labelKey, () => labelKey.length + LONGEST_VALUE)]),
      ...(key === DEFAULT_KEY ? [] : [this.#readings.add(key, () => reading)]),
      ...(missingDataOf(spec) === undefined ? [] : [this.#missing.add(key, () => true)]),
      this.#depths.add(key, passes),
      ...(minHoldOf(spec) === undefined ? [] : [this.#holds.add('', () => true)]),
      ...(selector === undefined
        ? []
        : [this.#selectors.add(JSON.stringify(selector), () => createLabelMatcher(selector))]),
    ];
    return () => removals.forEach((remove) => remove());
  }
}

/** Values by a text that stands for each. A value stays as long as somebody needs it. */
class Tally<V> {
  readonly #entries = new Map<string, { readonly value: V; needed: number }>();
  #values: ReadonlyMap<string, V> | undefined;

  /** All values by their texts. The same map until a value is added or removed; never changed in place. */
  get values(): ReadonlyMap<string, V> {
    this.#values ??= new Map([...this.#entries].map(([text, { value }]) => [text, value]));
    return this.#values;
  }

  /**
   * Counts a need.
   * @param create creates the value if nobody has needed it yet
   * @returns a function that ends the need. Call it once.
   */
  add(text: string, create: () => V): () => void {
    const entry = this.#entryOf(text, create);
    entry.needed++;
    return () => {
      if (--entry.needed > 0) return;
      this.#entries.delete(text);
      this.#values = undefined;
    };
  }

  #entryOf(text: string, create: () => V): { readonly value: V; needed: number } {
    const known = this.#entries.get(text);
    if (known !== undefined) return known;
    const entry = { value: create(), needed: 0 };
    this.#entries.set(text, entry);
    this.#values = undefined;
    return entry;
  }
}

/** Counts how many passes of each reading are needed. */
class Depths {
  /** By the key of the reading: how many need so many passes, by their number. */
  readonly #needed = new Map<string, number[]>();

  /**
   * Counts a need.
   * @returns a function that ends the need. Call it once.
   */
  add(key: string, passes: number): () => void {
    const needed = this.#needed.get(key) ?? [];
    this.#needed.set(key, needed);
    needed[passes] = (needed[passes] ?? 0) + 1;
    return () => {
      needed[passes] = (needed[passes] ?? 0) - 1;
      while (needed.length > 0 && !needed.at(-1)) needed.pop();
      if (needed.length === 0) this.#needed.delete(key);
    };
  }

  /** The most passes that anybody needs; 0 if nobody needs the reading. */
  of(key: string): number {
    return Math.max((this.#needed.get(key)?.length ?? 0) - 1, 0);
  }
}
