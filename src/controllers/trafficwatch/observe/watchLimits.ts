import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import { keyOf, sameSpec } from '../../../runtime/client/resource.ts';
import type { LimitProblem } from './observation.ts';
import { Oldest, type Entry, type Shift } from './oldest.ts';
import { ReadingLimits, type MostReadings } from './reading/readingLimits.ts';
import type { ReadingNeed } from './reading/readingOf.ts';

/** The limits on the TrafficWatches that the operator decides. */
export interface Limits {
  /** The oldest of each namespace. */
  readonly perNamespace: number;
  /** The oldest of the cluster among these. */
  readonly inCluster: number;
  /** The maximum cost of the readings of these. */
  readonly readings: MostReadings;
  /** Bytes of the heap of this process: figures take a part of it at most. */
  readonly heapBytes: number;
}

/** The figure of one node in one reading of one pass, as measured. */
const BYTES_A_FIGURE = 250;
/** The part of the heap that the figures of readings may take. */
const SHARE_OF_HEAP = 0.25;
/** However little memory there is: two readings of two passes. */
const LEAST_READINGS = 4;

/** A change of which TrafficWatches are within the limits: their keys. */
export interface LimitChange {
  readonly entered: readonly string[];
  readonly left: readonly string[];
  /** May be beyond another limit than before: the status says which. */
  readonly moved?: readonly string[];
}

const NO_CHANGE: LimitChange = { entered: [], left: [] };

/**
 * Knows which TrafficWatches are within the limits. Each of them costs every pass its share, and every Node a label: without
 * limits, the user of one namespace could fill the Nodes until the API server refuses to store them. The oldest are within
 * the limits, so a new TrafficWatch pushes out none that works. Every replica gets the same result. Of these, readings may
 * keep out further ones, also after an edit of another TrafficWatch: see ReadingLimits.
 *
 * A TrafficWatch that is being deleted counts until it is gone, since it still has labels.
 */
export class WatchLimits {
  readonly #limits: Limits;
  readonly #namespaces = new Map<string, Oldest>();
  readonly #cluster: Oldest;
  readonly #entries = new Map<string, Entry>();
  readonly #within = new Set<string>();
  readonly #needOf: (key: string) => ReadingNeed | undefined;
  readonly #readings: ReadingLimits;
  /** A number of nodes for which the limits of readings are right. */
  #nodes = 1;

  /** @param needOf what the TrafficWatch of this key needs as of now; undefined if there is none */
  constructor(limits: Limits, needOf: (key: string) => ReadingNeed | undefined) {
    this.#limits = limits;
    this.#needOf = needOf;
    this.#cluster = new Oldest(limits.inCluster);
    this.#readings = new ReadingLimits(mostReadings(limits, this.#nodes));
  }

  /** The keys of the TrafficWatches within the limits. */
  get within(): ReadonlySet<string> {
    return this.#within;
  }

  /** Call with each event of a TrafficWatch. */
  saw(event: InformerEvent<TrafficWatch>): LimitChange {
    const key = keyOf(event.object);
    const before = this.#entries.get(key);
    const entry = event.type === 'delete' ? undefined : entryOf(event.object);
    if (before?.uid === entry?.uid) {
      const isSame = event.type === 'update' && sameSpec(event.old, event.object);
      return isSame || entry === undefined ? NO_CHANGE : this.#changed([entry]);
    }
    const removed = before === undefined ? [] : this.#remove(before);
    const added = entry === undefined ? [] : this.#add(entry);
    return this.#changed([...removed, ...added]);
  }

  /** Call with the number of nodes of each pass. The more nodes, the fewer readings fit into the memory. */
  sawNodes(count: number): LimitChange {
    if (count <= this.#nodes && count > this.#nodes / 4) return NO_CHANGE;
    // Powers of two: a node that comes or goes changes nothing.
    this.#nodes = 2 ** Math.ceil(Math.log2(Math.max(count, 1)));
    return this.#shifted(this.#readings.setMost(mostReadings(this.#limits, this.#nodes)));
  }

  /** How many TrafficWatches are beyond the limits. */
  get beyond(): number {
    return this.#entries.size - this.#within.size;
  }

  /** Whether there is such a TrafficWatch, beyond the limits. */
  isBeyond(key: string): boolean {
    return this.#entries.has(key) && !this.#within.has(key);
  }

  /** Returns the problem and its solution, for users, if a TrafficWatch is beyond the limits. */
  problemOf({ metadata }: Pick<TrafficWatch, 'metadata'>): LimitProblem | undefined {
    const key = keyOf({ metadata });
    if (!this.isBeyond(key)) return undefined;
    const namespace = metadata?.namespace ?? '';
    if (!this.#cluster.has(this.#entries.get(key)))
      return { reason: 'TooManyTrafficWatches', message: this.#tooMany(key, namespace) };
    return { reason: 'TooManyReadings', message: this.#tooManyReadings(key, namespace) };
  }

  #tooMany(key: string, namespace: string): string {
    const { perNamespace, inCluster } = this.#limits;
    if (this.#namespaces.get(namespace)?.has(this.#entries.get(key)) === true) {
      return `the cluster has more than ${inCluster} TrafficWatches, and only the ${inCluster} oldest are decided: delete some, or raise --most-watches of the operator`;
    }
    return `namespace ${namespace} has more than ${perNamespace} TrafficWatches, and only its ${perNamespace} oldest are decided: delete some, or raise --most-watches-per-namespace of the operator`;
  }

  #tooManyReadings(key: string, namespace: string): string {
    const { limit = 'inCluster', most = 0, cost = 0 } = this.#readings.beyond(key) ?? {};
    const [lack, flag] =
      limit === 'inCluster'
        ? [
            `namespace ${namespace} has too little left of its share of the ${most} readings of the cluster`,
            'most-readings',
          ]
        : [`the older ones of namespace ${namespace} leave fewer of ${most}`, 'most-readings-per-namespace'];
    return `this TrafficWatch needs ${cost} readings (its direction, measure, devices and capacity, once for each pass of spec.passes), and ${lack}: use the same direction, measure, devices and capacity in several TrafficWatches, lower spec.passes, or raise --${flag} and the memory of the operator`;
  }

  #add(entry: Entry): Entry[] {
    this.#entries.set(entry.key, entry);
    const oldest = this.#namespaces.get(entry.namespace) ?? new Oldest(this.#limits.perNamespace);
    this.#namespaces.set(entry.namespace, oldest);
    return this.#pass(oldest.add(entry));
  }

  #remove(entry: Entry): Entry[] {
    this.#entries.delete(entry.key);
    const oldest = this.#namespaces.get(entry.namespace);
    if (oldest === undefined) return [];
    const shift = oldest.remove(entry);
    if (oldest.isEmpty) this.#namespaces.delete(entry.namespace);
    return this.#pass(shift);
  }

  /** Applies a change among the oldest of a namespace to the oldest of the cluster. Returns all entries that may have changed sides. */
  #pass({ entered, left }: Shift): Entry[] {
    const shifts = [
      ...(left === undefined ? [] : [this.#cluster.remove(left)]),
      ...(entered === undefined ? [] : [this.#cluster.add(entered)]),
    ];
    return [entered, left, ...shifts.flatMap((shift) => [shift.entered, shift.left])].filter(
      (entry) => entry !== undefined,
    );
  }

  #changed(touched: readonly Entry[]): LimitChange {
    const further = touched.flatMap(({ key }) => {
      const entry = this.#entries.get(key);
      return this.#readings.set(key, this.#cluster.has(entry) ? entry : undefined, () => this.#needOf(key));
    });
    const keys = touched.map(({ key }) => key);
    const { entered, left } = this.#shifted([...keys, ...further]);
    const moved = [...new Set(keys)].filter((key) => this.isBeyond(key) && !left.includes(key));
    return { entered, left, ...(moved.length > 0 && { moved }) };
  }

  #shifted(touched: readonly string[]): LimitChange {
    const entered: string[] = [];
    const left: string[] = [];
    for (const key of new Set(touched)) {
      const isWithin = this.#cluster.has(this.#entries.get(key)) && this.#readings.beyond(key) === undefined;
      if (isWithin && !this.#within.has(key)) entered.push(key);
      if (!isWithin && this.#within.has(key)) left.push(key);
    }
    entered.forEach((key) => this.#within.add(key));
    left.forEach((key) => this.#within.delete(key));
    return { entered, left };
  }
}

function entryOf({ metadata }: TrafficWatch): Entry {
  const { uid = '', namespace = '', creationTimestamp } = metadata ?? {};
  return {
    uid,
    namespace,
    key: keyOf({ metadata }),
    creationTimestamp: new Date(creationTimestamp ?? 0).toISOString(),
  };
}

function mostReadings({ readings, heapBytes }: Limits, nodes: number): MostReadings {
  const fits = Math.floor((heapBytes * SHARE_OF_HEAP) / (nodes * BYTES_A_FIGURE));
  const inCluster = Math.max(Math.min(readings.inCluster, fits), LEAST_READINGS);
  const share = readings.perNamespace / readings.inCluster;
  return {
    inCluster,
    perNamespace: Math.max(Math.min(readings.perNamespace, Math.floor(inCluster * share)), LEAST_READINGS),
  };
}
