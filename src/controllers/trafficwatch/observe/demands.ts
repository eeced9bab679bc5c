import { createLabelMatcher, type LabelMatcher } from '../../../api/labelMatcher.ts';
import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import { nodeSelectorOf } from '../../../api/trafficwatch/spec/nodeSelector.ts';
import { missingDataOf } from '../../../api/trafficwatch/spec/missingData.ts';
import { minHoldOf } from '../../../api/trafficwatch/spec/passes.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY, type Reading, type Readings } from '../../../usage/evaluate/reading.ts';
import type { PassDemand } from '../../../usage/pass/feed.ts';
import { Depths } from './reading/depths.ts';
import { readingNeedOf } from './reading/readingNeed.ts';
import type { NodeLookup } from './reading/specCapacities.ts';
import { labelKeysOf } from '../model/labelKeys.ts';
import { Tally } from './tally.ts';

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
