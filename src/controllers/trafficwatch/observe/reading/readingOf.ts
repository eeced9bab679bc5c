import { devicesOf, directionOf, measureOf, areDevicesValid } from '../../../../api/trafficwatch/spec/reading.ts';
import type { TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import {
  DEFAULT_KEY,
  DEFAULT_READING,
  LEAST_PASSES,
  readingKey,
  type Reading,
  type StatedCapacities,
} from '../../../../usage/evaluate/reading.ts';
import { MOST_PASSES, passesOf } from '../../../../api/trafficwatch/spec/verdict.ts';
import { createLabelMatcher, type LabelMatcher } from '../../../../api/labelMatcher.ts';
import { capacityOf, type CapacityEntry } from '../../../../api/trafficwatch/spec/capacity.ts';
import { HOSTNAME_LABEL, labelOf, type CachedNode, type LabelSet } from '../../../../nodes/cachedNode.ts';
import type { StatedCapacity } from '../../../../nodes/statedCapacity.ts';

/** The figures that a TrafficWatch needs. */
export interface ReadingNeed {
  readonly reading: Reading;
  /** See readingKey. */
  readonly key: string;
  /** The number of passes that are kept. */
  readonly passes: number;
}

/**
 * Returns the reading and the passes that a TrafficWatch needs. Its spec may be invalid: another CRD may have let it through.
 * Then an invalid pattern gives the default reading, and only numbers of passes that the schema allows are used.
 * @param nodeOf looks up the labels of a Node, for `spec.capacity`
 */
export function readingNeedOf({ spec }: Pick<TrafficWatch, 'spec'>, nodeOf: NodeLookup): ReadingNeed {
  const reading = areDevicesValid(spec) ? readingOf({ spec }, nodeOf) : DEFAULT_READING;
  const { unfit, fit } = passesOf(spec);
  const passes = [unfit, fit].filter((count) => Number.isInteger(count) && count <= MOST_PASSES);
  return { reading, key: readingKey(reading), passes: Math.max(LEAST_PASSES, ...passes) };
}

/**
 * Returns the cost of keeping the results: one for each pass. Every operator keeps two passes of the default reading, so these
 * cost nothing.
 */
export function costOf({ key, passes }: Pick<ReadingNeed, 'key' | 'passes'>): number {
  return key === DEFAULT_KEY ? passes - LEAST_PASSES : passes;
}

/**
 * The reading that a TrafficWatch asks for. Its spec may be absent: a CRD without a schema lets that through.
 * @param nodeOf looks up the labels of a Node, for `spec.capacity`
 */
export function readingOf({ spec }: Pick<TrafficWatch, 'spec'>, nodeOf: NodeLookup): Reading {
  const capacities = specCapacitiesOf(spec, nodeOf);
  return {
    direction: directionOf(spec),
    measure: measureOf(spec),
    ...devicesOf(spec),
    ...(capacities && { capacities }),
  };
}

/** The labels of a Node as of now, by its name. */
export type NodeLookup = (name: string) => Pick<CachedNode, 'labels' | 'otherLabels' | 'hostname'> | undefined;

/** The capacities that `spec.capacity` states; undefined if it states none. */
export function specCapacitiesOf(spec: TrafficWatch['spec'], nodeOf: NodeLookup): StatedCapacities | undefined {
  const entries = capacityOf(spec);
  return entries === undefined ? undefined : new SpecCapacities(entries, nodeOf);
}

/** Stands for every hostname that no selector names: they all match the same entries. */
const OTHER = Symbol('another hostname');
type HostnameClass = string | undefined | typeof OTHER;

interface Compiled {
  readonly entries: readonly { readonly matches: LabelMatcher; readonly stated: StatedCapacity }[];
  /** The values of HOSTNAME_LABEL in the selectors. */
  readonly hostnames: ReadonlySet<string>;
}

/**
 * Finds the first entry that matches a node. Nodes with the same labels share one LabelSet, and a LabelSet does not
 * change, so the result for it is kept as long as it lives: a node is matched again only when its labels have changed.
 * The hostname, which differs on each node, is not part of the set.
 */
class SpecCapacities implements StatedCapacities {
  readonly text: string;
  readonly #given: readonly CapacityEntry[];
  readonly #nodeOf: NodeLookup;
  readonly #known = new WeakMap<LabelSet, Map<HostnameClass, StatedCapacity | undefined>>();
  #compiled: Compiled | undefined;

  constructor(entries: readonly CapacityEntry[], nodeOf: NodeLookup) {
    this.text = JSON.stringify(entries);
    this.#given = entries;
    this.#nodeOf = nodeOf;
  }

  of(name: string): StatedCapacity | undefined {
    const node = this.#nodeOf(name);
    if (node === undefined) return undefined;
    const { entries, hostnames } = (this.#compiled ??= compile(this.#given));
    const { hostname, otherLabels } = node;
    const known = this.#knownOf(otherLabels);
    const key = hostname === undefined || hostnames.has(hostname) ? hostname : OTHER;
    if (known.has(key)) return known.get(key);
    const found = entries.find(({ matches }) => matches((label) => labelOf(node, label)))?.stated;
    known.set(key, found);
    return found;
  }

  #knownOf(labels: LabelSet): Map<HostnameClass, StatedCapacity | undefined> {
    let known = this.#known.get(labels);
    if (known === undefined) this.#known.set(labels, (known = new Map<HostnameClass, StatedCapacity | undefined>()));
    return known;
  }
}

function compile(given: readonly CapacityEntry[]): Compiled {
  const entries = given.map(({ nodeSelector = {}, value }, place) => ({
    matches: createLabelMatcher(nodeSelector),
    stated: { source: 'Spec', key: `spec.capacity[${place}].value`, text: value } as const,
  }));
  return { entries, hostnames: new Set(given.flatMap(hostnamesIn)) };
}

function hostnamesIn({ nodeSelector }: CapacityEntry): string[] {
  const { matchLabels = {}, matchExpressions = [] } = nodeSelector ?? {};
  const exact = Object.hasOwn(matchLabels, HOSTNAME_LABEL) ? [matchLabels[HOSTNAME_LABEL] ?? ''] : [];
  return [
    ...exact,
    ...matchExpressions.filter(({ key }) => key === HOSTNAME_LABEL).flatMap(({ values = [] }) => values),
  ];
}
